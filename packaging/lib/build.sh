# Configuring and building the preset `release`. Sourced, not run.
# shellcheck shell=bash

HEDDLE_BUILD="$HEDDLE_ROOT/build/release"

# LibTorch's headers take a compiler to 1.5 GB: no more jobs at once than memory holds.
build_jobs() {
  local by_memory
  by_memory=$(awk '/^MemAvailable/ { print int($2 / 1.6e6) }' /proc/meminfo)
  local jobs
  jobs=$(nproc)
  ((by_memory < jobs)) && jobs=$by_memory
  echo $((jobs > 0 ? jobs : 1))
}

# configured SETTING...: whether the last configuration ended well with these settings.
configured() {
  [[ -f $HEDDLE_BUILD/build.ninja ]] || return 1
  local setting
  for setting; do
    grep -qxF -- "${setting#-D}" "$HEDDLE_BUILD/CMakeCache.txt" || return 1
  done
}

# variant ASKED: cpu, or cuda when that is asked for or was once: a later start keeps it up to date.
variant() {
  if [[ $1 == cuda ]] || grep -qxF HEDDLE_CUDA:BOOL=ON "$HEDDLE_BUILD/CMakeCache.txt" 2>/dev/null; then
    echo cuda
  else
    echo cpu
  fi
}

# build VARIANT [TARGET...]: without a target, everything.
build() {
  local cuda=OFF
  [[ $1 == cuda ]] && cuda=ON
  local settings=("-DHEDDLE_LIBTORCH:PATH=$HEDDLE_LIBTORCH" "-DHEDDLE_CUDA:BOOL=$cuda")
  # Once it is there, every build has the Parquet plug-in.
  [[ -d $HEDDLE_ARROW ]] && settings+=("-DHEDDLE_ARROW:PATH=$HEDDLE_ARROW")
  shift
  local arguments=(--build --preset release --parallel "$(build_jobs)")
  (($#)) && arguments+=(--target "$@")
  (
    cd "$HEDDLE_ROOT" || exit
    if ! configured "${settings[@]}"; then
      say "configuring build/release"
      cmake --preset release "${settings[@]}" >&2 || fail 1 "configuring failed: see above"
    fi
    cmake "${arguments[@]}" >&2 || fail 1 "the build failed: see above"
  ) || exit
}

# set_up ASKED TARGET...: Debian's packages, LibTorch and the targets, of the variant that is asked for.
set_up() {
  local variant
  variant=$(variant "$1")
  shift
  lock_setup
  install_packages "$HEDDLE_ROOT/packaging/debian-packages.txt"
  fetch_libtorch "$variant"
  build "$variant" "$@"
  unlock_setup
}

# The version of what was built.
version() { sed -n 's/^CMAKE_PROJECT_VERSION:STATIC=//p' "$HEDDLE_BUILD/CMakeCache.txt"; }

# copy_shared FOLDER: what the programs look for in ../share/heddle.
copy_shared() {
  mkdir -p "$1"
  cp -r "$HEDDLE_ROOT"/resources/{recipes,data,sample-run} "$1"
}
