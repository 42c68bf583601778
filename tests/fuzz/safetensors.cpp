// The header of a safetensors file, and one whose length is right.
#include <cstring>

#include "engine/checkpoint/safetensors_header.h"
#include "tests/fuzz/input.h"

using namespace heddle::checkpoint;

namespace {

void read(std::string_view file) {
  const auto header = parse_safetensors_header(std::as_bytes(std::span(file.data(), file.size())));
  if (!header) return;
  for (const auto& [tensor, offset] : header->tensors)
    if (tensor.bytes() < 0 || offset + static_cast<size_t>(tensor.bytes()) > file.size())
      std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view input = heddle::fuzz::text(data, size);
  read(input);
  // Up to the last brace it is the header, the rest is its tensors' bytes.
  const uint64_t length = input.rfind('}') + 1;
  std::string file(sizeof length, '\0');
  std::memcpy(file.data(), &length, sizeof length);
  read(file.append(input));
  return 0;
}
