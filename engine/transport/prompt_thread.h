// Threads that move data while the computing thread has their core: short turns, soon.
#pragma once

#include <functional>
#include <thread>

namespace heddle::transport {

/// Names the calling thread and asks the scheduler for turns of 0.1 ms, the shortest there are: who
/// asks for short turns gets them early. With turns as long as everybody's (3 ms) a thread that is
/// woken next to compute waits for the other's turn to end, and so do all ranks in that collective.
/// Linux 6.12 and later heed it (`sched_runtime` of SCHED_OTHER); elsewhere it changes nothing. The
/// policy and the nice value stay.
void become_prompt(const char* name);

/// A thread that becomes prompt and calls `body`; an exception ends the process (base/guard.h).
std::thread prompt_thread(const char* name, std::function<void()> body);

}  // namespace heddle::transport
