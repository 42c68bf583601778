// Preloaded into a process, sets its clock off by $HEDDLE_TEST_CLOCK_AHEAD seconds; what runs by
// the monotonic clock is unchanged.
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#include <cstdlib>

namespace {

time_t ahead() {
  const char* seconds = std::getenv("HEDDLE_TEST_CLOCK_AHEAD");
  return seconds ? std::atol(seconds) : 0;
}

}  // namespace

extern "C" int clock_gettime(clockid_t clock, timespec* time) {
  const long answer = syscall(SYS_clock_gettime, clock, time);
  if (answer == 0 && (clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE))
    time->tv_sec += ahead();
  return static_cast<int>(answer);
}

extern "C" int gettimeofday(timeval* time, void*) {
  timespec now{};
  if (clock_gettime(CLOCK_REALTIME, &now) != 0) return -1;
  *time = {now.tv_sec, now.tv_nsec / 1000};
  return 0;
}

extern "C" time_t time(time_t* where) {
  timespec now{};
  clock_gettime(CLOCK_REALTIME, &now);
  if (where) *where = now.tv_sec;
  return now.tv_sec;
}
