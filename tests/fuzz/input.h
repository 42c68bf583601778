// A target's input, in the forms that readers take.
#pragma once

#include <sys/mman.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>

namespace heddle::fuzz {

inline std::string_view text(const uint8_t* data, size_t size) {
  return {reinterpret_cast<const char*>(data), size};
}

/// Takes the first byte off: which of several readers is meant.
inline uint8_t choice(std::string_view& input) {
  if (input.empty()) return 0;
  const auto first = static_cast<uint8_t>(input.front());
  input.remove_prefix(1);
  return first;
}

/// A folder in memory, the process's own.
inline const std::string& folder() {
  static const std::string made = [] {
    std::string name = "/dev/shm/heddle-fuzz-XXXXXX";
    if (mkdtemp(name.data()) == nullptr) std::abort();
    static std::string kept = name;
    std::atexit([] { std::filesystem::remove_all(kept); });
    return name;
  }();
  return made;
}

/// A file of that folder with these bytes; its path.
inline std::string file(const std::string& name, std::string_view bytes) {
  const std::string path = folder() + "/" + name;
  std::ofstream(path, std::ios::binary) << bytes;
  return path;
}

}  // namespace heddle::fuzz
