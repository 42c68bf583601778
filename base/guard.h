// The edges of processes and threads: what a library throws ends there, and its cause is kept.
#pragma once

#include <unistd.h>

#include <exception>
#include <new>
#include <utility>

#include "base/result.h"
#include "base/say.h"

namespace heddle {

/// Calls `body`, which returns a Result; an exception becomes its error.
template <typename Body>
auto caught(Body&& body) -> decltype(body()) {
  try {
    return std::forward<Body>(body)();
  } catch (const std::bad_alloc&) {
    return fail("there is not enough memory");
  } catch (const std::exception& error) {
    return fail("{}", error.what());
  } catch (...) {
    return fail("something was thrown that is no exception");
  }
}

/// A program: calls `body`, which returns the exit code; an exception is printed, and the code
/// is 1. So is a success of which not all that went to stdout was written.
template <typename Body>
int guarded_main(std::string_view program, Body&& body) {
  int code = 1;
  const Result<> done = caught([&]() -> Result<> {
    code = std::forward<Body>(body)();
    return {};
  });
  if (!done) say(stderr, "{}: {}\n", program, done.error().message);
  const bool lost = std::fflush(stdout) != 0 || std::ferror(stdout) != 0;
  if (lost && code == 0) {
    say(stderr, "{}: stdout: not all could be written\n", program);
    code = 1;
  }
  return code;
}

/// A thread that the process cannot do without: calls `body`; an exception is printed, and ends the
/// process with code 1.
template <typename Body>
void guarded_thread(std::string_view name, Body&& body) {
  const Result<> done = caught([&]() -> Result<> {
    std::forward<Body>(body)();
    return {};
  });
  if (done) return;
  say(stderr, "{}: {}\n", name, done.error().message);
  fflush(stderr);
  _exit(1);
}

}  // namespace heddle
