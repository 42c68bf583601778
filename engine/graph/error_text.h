// The message of an exception of LibTorch, without the stack trace that it carries, nor what it
// advises on every error of a GPU alike.
#pragma once

#include <c10/util/Exception.h>

#include <string>

namespace heddle::graph {

inline std::string error_text(const std::exception& error) {
  if (const auto* of_gpu = dynamic_cast<const c10::AcceleratorError*>(&error)) {
    const std::string text = of_gpu->what_without_backtrace();
    return text.substr(0, text.find('\n'));
  }
  const auto* of_torch = dynamic_cast<const c10::Error*>(&error);
  return of_torch ? of_torch->what_without_backtrace() : error.what();
}

}  // namespace heddle::graph
