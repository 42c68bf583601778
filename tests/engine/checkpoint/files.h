// Whole files in and out, for tests that edit real checkpoints.
#pragma once

#include <cstdint>
#include <cstring>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>

inline std::string read_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream bytes;
  bytes << file.rdbuf();
  return bytes.str();
}

inline std::string write_file(const std::string& path, const std::string& bytes) {
  std::ofstream(path, std::ios::binary) << bytes;
  return path;
}

/// A safetensors file taken apart, to be edited and put together again.
struct Safetensors {
  nlohmann::ordered_json header;
  std::string data;

  static Safetensors read(const std::string& path) {
    const std::string bytes = read_file(path);
    uint64_t length = 0;
    std::memcpy(&length, bytes.data(), sizeof(length));
    return {nlohmann::ordered_json::parse(bytes.substr(8, length)), bytes.substr(8 + length)};
  }

  static std::string join(const std::string& header, const std::string& data) {
    const uint64_t length = header.size();
    std::string bytes(sizeof(length), '\0');
    std::memcpy(bytes.data(), &length, sizeof(length));
    return bytes + header + data;
  }
  std::string bytes() const { return join(header.dump(), data); }
};
