// What an exception of LibTorch says, without the stack trace that it carries.
#pragma once

#include <c10/util/Exception.h>

#include <string>

namespace heddle::graph {

inline std::string error_text(const std::exception& error) {
  const auto* of_torch = dynamic_cast<const c10::Error*>(&error);
  return of_torch ? of_torch->what_without_backtrace() : error.what();
}

}  // namespace heddle::graph
