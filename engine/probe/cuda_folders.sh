# Where libraries of CUDA and of LibTorch may lie, a line each, there or not: in toolkits, in Python's
# packages (environments in use, in $PATH, in the home and the usual places), in the system's folders.
python_packages() {
  {
    printf '%s\n' "$VIRTUAL_ENV" "$CONDA_PREFIX" "$HOME"/.local "$HOME"/* "$HOME"/.[!.]* "$HOME"/*/envs/* \
      "$HOME"/.virtualenvs/* /opt/* /opt/*/envs/* /usr/local /usr
    (
      IFS=:
      for folder in $PATH; do printf '%s\n' "${folder%/bin}"; done
    )
  } | while read -r prefix; do
    [ -d "$prefix/lib" ] || continue
    printf '%s\n' "$prefix"/lib/python3*/site-packages "$prefix"/lib/python3*/dist-packages \
      "$prefix"/lib/python3/dist-packages
  done | while read -r packages; do [ -d "$packages" ] && printf '%s\n' "$packages"; done | awk '!seen[$0]++'
}
cuda_toolkits() {
  for toolkit in "$CUDA_HOME" /usr/local/cuda /usr/local/cuda-* /opt/cuda /opt/cuda-*; do
    [ -n "$toolkit" ] && [ -d "$toolkit" ] && readlink -f -- "$toolkit"
  done | awk '!seen[$0]++'
}
cuda_folders() {
  {
    python_packages | while read -r packages; do printf '%s\n' "$packages"/torch/lib "$packages"/nvidia/*/lib; done
    cuda_toolkits | while read -r toolkit; do
      printf '%s\n' "$toolkit"/lib64 "$toolkit"/targets/x86_64-linux/lib
    done
    printf '%s\n' /usr/lib/x86_64-linux-gnu /usr/lib64 /usr/lib
  } | while read -r folder; do [ -d "$folder" ] && printf '%s\n' "$folder"; done | awk '!seen[$0]++'
}
