// Which call fails, and how: the environment variable FAKE_CUDA_FAULTS, a list joined by ";" of
//
//   RANK CALL[@capture] N DOES [CODE]
//
// the N-th (from 1) call of that name on that rank, with @capture of those while it records: fails
// (returns CODE), hangs (does not return), stalls (returns, but what it has put in a stream does
// not end), breaks (returns CODE, and from then on so does every call), late (the same, but this
// call still succeeds).
#pragma once

namespace fake {

/// The outcome of a call.
struct Fate {
  int error = 0;
  bool stalls = false;
};

/// Asked once a call; does not return where it hangs.
Fate fate_of(const char* call, bool captured);

/// The error that every call returns once the device is broken; 0: it is not.
int broken();

/// This process's rank, by its command line; 0 where that names none.
int rank();

/// Appends a line to FAKE_CUDA_LOG/rank-R.log, if that is set. Any thread.
void note(const char* format, ...) __attribute__((format(printf, 1, 2)));

}  // namespace fake
