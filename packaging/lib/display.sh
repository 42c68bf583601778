# A display without a screen, and windows on it. Sourced, not run.
# shellcheck shell=bash

# start_display FOLDER: DISPLAY becomes a new Xvfb's; its process is display_pid.
start_display() {
  local said=$1/display
  mkfifo "$said"
  Xvfb -displayfd 3 -screen 0 1600x1000x24 -nolisten tcp -ac >/dev/null 2>&1 3>"$said" &
  display_pid=$!
  read -r -t 20 DISPLAY <"$said" || fail 1 "Xvfb did not start"
  export DISPLAY=":$DISPLAY"
}

# wait_for_window TITLE PID: until a window of this title is there; fails when the process ends before.
wait_for_window() {
  local try
  for ((try = 0; try < 120; try++)); do
    xwininfo -root -tree 2>/dev/null | grep -q "\"$1" && return
    kill -0 "$2" 2>/dev/null || return 1
    sleep 0.5
  done
  return 1
}
