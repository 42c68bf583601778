# The probe: prints what this machine has as lines of `key<TAB>value`, and leaves nothing behind.
# $1: the root folder that runs will use (it need not exist yet). $2: "memory" for cores and memory
# alone; "data": nothing there is a program. Plain POSIX sh; a tool that is missing leaves its keys out.
LC_ALL=C
export LC_ALL
tab=$(printf '\t')
say() { printf '%s%s%s\n' "$1" "$tab" "$2"; }

# Memory that a cgroup's limit leaves: it would give back pages of files that are in use there.
room_of() {
  [ -r "$1/$2" ] && read -r limit < "$1/$2" && read -r used < "$1/$3" || return 0
  [ "$limit" = max ] && return 0
  files=0
  while read -r name value; do [ "$name" = "$4" ] && files=$value; done < "$1/memory.stat"
  room=$(((limit - used + files) / 1024))
  [ "$room" -ge 0 ] || room=0
  [ -n "$least" ] && [ "$least" -le "$room" ] || least=$room
}

# nproc counts what this variable allows, too.
unset OMP_NUM_THREADS
say cores "$(nproc 2>/dev/null || getconf _NPROCESSORS_ONLN 2>/dev/null)"
while read -r name value _; do
  case $name in
    MemTotal:) say memory_kib "$value" ;;
    MemAvailable:) say memory_available_kib "$value" ;;
  esac
done < /proc/meminfo
least=
while IFS=: read -r _ controllers path; do
  case ,$controllers, in
    *,memory,*) top=/sys/fs/cgroup/memory ;;
    ,,) top=/sys/fs/cgroup ;;
    *) continue ;;
  esac
  # Limits of the folders above hold as well. In a container the top is its own.
  while :; do
    room_of "$top$path" memory.max memory.current inactive_file
    room_of "$top$path" memory.limit_in_bytes memory.usage_in_bytes total_inactive_file
    [ -n "$path" ] || break
    path=${path%/*}
  done
done 2>/dev/null < /proc/self/cgroup
say cgroup_room_kib "$least"
[ "$2" = memory ] && say end yes && exit

read -r load _ < /proc/loadavg && say load "$load"
say clock "$(date +%s.%N)"
say host "$(uname -n)"
say kernel "$(uname -sr)"
say machine "$(uname -m)"
say glibc "$(getconf GNU_LIBC_VERSION 2>/dev/null | cut -d' ' -f2)"

# The nearest folder above the root that is there already.
root=$1
while [ ! -d "$root" ] && [ "$root" != / ] && [ -n "$root" ]; do root=$(dirname -- "$root"); done
say disk_folder "$root"
[ -w "$root" ] && say disk_writable yes || say disk_writable no
say disk_free_kib "$(df -Pk -- "$root" 2>/dev/null | tail -n 1 | awk '{print $4}')"
say inodes "$(df -Pi -- "$root" 2>/dev/null | tail -n 1 | awk '{print $2}')"
say inodes_free "$(df -Pi -- "$root" 2>/dev/null | tail -n 1 | awk '{print $4}')"
# What free space and permissions do not show: a quota that is used up, a file system that is read
# only.
if [ -w "$root" ]; then
  if tried=$(mktemp -- "$root/.heddle-probe.XXXXXX" 2>&1); then
    fault=$({ head -c 65536 /dev/zero > "$tried"; } 2>&1)
    rm -f -- "$tried"
  else
    fault=$tried
  fi
  say disk_fault "${fault##*: }"
fi
mount_point=$(df -P -- "$root" 2>/dev/null | tail -n 1 | awk '{print $6}')
device=$(df -P -- "$root" 2>/dev/null | tail -n 1 | awk '{print $1}')
# Both print: used KiB, soft and hard limit, grace, then the same of files.
timeout 5 quota -w -p 2>/dev/null | while read -r name limits; do
  [ "$name" = "$device" ] && say quota "$limits"
done
timeout 5 lfs quota -q -u "$(id -un)" "$mount_point" 2>/dev/null | while read -r name limits; do
  [ -n "$limits" ] && say quota "$limits"
done
say use "$2"
while read -r _ point _ options _; do
  [ "$point" = "$mount_point" ] && case ,$options, in *,noexec,*) say disk_noexec yes ;; esac
done < /proc/mounts

say shm_kib "$(df -Pk /dev/shm 2>/dev/null | tail -n 1 | awk '{print $2}')"
say shm_free_kib "$(df -Pk /dev/shm 2>/dev/null | tail -n 1 | awk '{print $4}')"
say nofile "$(ulimit -n)"
say memlock "$(ulimit -l 2>/dev/null)"

# In two questions: drivers that are too old do not know the words of the second.
ask_gpus() { nvidia-smi "--query-gpu=$1" --format=csv,noheader,nounits 2>/dev/null; }
if command -v nvidia-smi >/dev/null 2>&1; then
  say nvidia_smi yes
  ask_gpus name,memory.total,driver_version,ecc.errors.uncorrected.volatile.total |
    while read -r line; do say gpu "$line"; done
  ask_gpus uuid,pci.bus_id,memory.free,compute_cap | while read -r line; do
    say gpu_more "$line"
    bus=${line#*, }
    bus=$(echo "${bus%%,*}" | tr A-F a-f)
    # The driver writes the domain in eight digits, the kernel in four.
    read -r node < "/sys/bus/pci/devices/${bus#????}/numa_node" && say gpu_numa "$node"
  done 2>/dev/null
  nvidia-smi --query-compute-apps=gpu_uuid,pid,used_memory,process_name --format=csv,noheader,nounits 2>/dev/null |
    while read -r line; do
      pid=${line#*, }
      say gpu_user "$(ps -o user= -p "${pid%%,*}" 2>/dev/null), $line"
    done
  [ -z "${CUDA_VISIBLE_DEVICES+set}" ] || say cuda_visible "$CUDA_VISIBLE_DEVICES"
  nvidia-smi topo -m 2>/dev/null | while read -r line; do say topology "$line"; done
  for node in /sys/devices/system/node/node[0-9]*; do
    [ -r "$node/cpulist" ] && say numa_node "${node##*/node} $(cat "$node/cpulist")"
  done
  for card in /sys/class/infiniband/*; do
    [ -d "$card" ] && say nic "${card##*/}, $(cat "$card/device/numa_node"), $(cat "$card/ports/1/rate")"
  done 2>/dev/null
  for card in /sys/class/net/*; do
    [ -e "$card/device" ] && [ "$(cat "$card/operstate")" = up ] || continue
    read -r speed < "$card/speed" && [ "$speed" -gt 0 ] || speed=0
    say nic "${card##*/}, $(cat "$card/device/numa_node"), $((speed / 1000)) Gb/sec"
  done 2>/dev/null
  cuda_toolkits | while read -r toolkit; do
    version=$(sed -n '/"cuda" *:/,/}/s/.*"version" *: *"\([0-9.]*\)".*/\1/p' "$toolkit/version.json" 2>/dev/null)
    say cuda_toolkit "${version:-${toolkit##*-}} $toolkit"
  done
  python_packages | while read -r packages; do
    [ -r "$packages/torch/version.py" ] || continue
    version=$(sed -n "s/^__version__ *=.*'\(.*\)'.*/\1/p" "$packages/torch/version.py")
    say pytorch "$version $packages"
  done
elif [ -e /dev/nvidia0 ]; then
  say nvidia_smi no
fi
say end yes
