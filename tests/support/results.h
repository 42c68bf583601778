// Results in tests: taken for granted, or looked at with Qt Test.
#pragma once

#include <QtGlobal>
#include <future>
#include <type_traits>
#include <utility>

#include "base/result.h"

namespace heddle {

/// The value of a Result; a test that meets an error here stops with its message.
template <typename T>
T must(Result<T> result) {
  if (!result) qFatal("%s", result.error().message.c_str());
  if constexpr (!std::is_void_v<T>) return std::move(*result);
}
template <typename T>
T must(std::future<Result<T>> future) {
  return must(future.get());
}

}  // namespace heddle

// For any expected value whose error has a message. Each evaluates its argument once.
#define VERIFY_RESULT(...)                                          \
  do {                                                              \
    const auto& result = (__VA_ARGS__);                             \
    QVERIFY2(result, result ? "" : result.error().message.c_str()); \
  } while (false)
#define VERIFY_SAYS(call, words)                                      \
  do {                                                                \
    const auto& result = (call);                                      \
    QVERIFY(!result);                                                 \
    QVERIFY2(result.error().message.find(words) != std::string::npos, \
             result.error().message.c_str());                         \
  } while (false)
