// Errors as values: what every fallible function of Heddle's core returns.
#pragma once

#include <fmt/format.h>

#include <string>
#include <tl/expected.hpp>
#include <utility>

namespace heddle {

/// A fault in words that a user can act on: what, where, and what would be right.
struct Error {
  std::string message;
};

/// A value or the reason why there is none. `Result<>` carries success alone.
template <typename T = void>
using Result = tl::expected<T, Error>;

/// `return fail("no file {}", path);` from a function that returns a Result.
template <typename... Args>
[[nodiscard]] tl::unexpected<Error> fail(fmt::format_string<Args...> format, Args&&... args) {
  return tl::unexpected<Error>{Error{fmt::format(format, std::forward<Args>(args)...)}};
}

/// Hands the error of one Result on as the error of another.
template <typename T>
[[nodiscard]] tl::unexpected<Error> fail(const Result<T>& failed) {
  return tl::unexpected<Error>{failed.error()};
}

}  // namespace heddle
