#include "base/own_program.h"

#include <sys/auxv.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

namespace heddle {
namespace {

std::string started_file() {
  std::error_code error;
  return std::filesystem::read_symlink("/proc/self/exe", error);
}

/// The file that is mapped where the program begins.
std::string mapped_file() {
  const unsigned long entry = getauxval(AT_ENTRY);
  std::ifstream maps("/proc/self/maps");
  for (std::string line; std::getline(maps, line);) {
    char* end = nullptr;
    const unsigned long first = std::strtoul(line.c_str(), &end, 16);
    if (*end != '-' || entry < first || entry >= std::strtoul(end + 1, nullptr, 16)) continue;
    const size_t path = line.find('/');
    return path == std::string::npos ? std::string() : line.substr(path);
  }
  return {};
}

}  // namespace

std::string own_program() {
  static const std::string file = [] {
    const std::string mapped = mapped_file();
    return mapped.empty() ? started_file() : mapped;
  }();
  return file;
}

bool started_by_loader() { return own_program() != started_file(); }

}  // namespace heddle
