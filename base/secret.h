// A secret of 256 bits: what the processes of one run know and nobody else does.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"

namespace heddle {

/// Wiped from memory with its last copy. It is never an argument, never part of an environment and
/// never logged: it travels on the stdin of a program and is in files that only their owner
/// reads.
class Secret {
 public:
  static constexpr size_t kBytes = 32;
  using Bytes = std::array<uint8_t, kBytes>;

  /// A new one, from the operating system's random numbers.
  static Result<Secret> make();
  /// 64 hexadecimal digits. The error does not repeat them.
  static Result<Secret> from_hex(std::string_view digits);

  Secret(const Secret&) = default;
  Secret& operator=(const Secret&) = default;
  ~Secret();

  std::string hex() const;
  const Bytes& bytes() const { return bytes_; }
  bool operator==(const Secret& other) const;

 private:
  Secret() = default;
  Bytes bytes_{};
};

/// Writes a new file that only its owner reads (0600). What was there under that name is removed
/// first: no link is followed.
Result<> write_secret(const std::string& path, const Secret& secret);

/// Reads it back; a file of somebody else's, or one that others may read, is an error.
Result<Secret> read_secret(const std::string& path);

/// From a file descriptor (a program's stdin): a line of hexadecimal digits.
Result<Secret> receive_secret(int fd);

}  // namespace heddle
