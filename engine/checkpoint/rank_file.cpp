#include "engine/checkpoint/rank_file.h"

#include <algorithm>

#include "base/host_name.h"
#include "engine/checkpoint/hash.h"
#include "engine/checkpoint/safetensors_header.h"

namespace heddle::checkpoint {

using holdings::Part;

namespace {

constexpr int64_t kWrittenPiece = kHashedBytes / static_cast<int64_t>(sizeof(float));

TensorInfo info_of(const Part& part) {
  if (part.shape.size() == 1) return {part.name, Dtype::f32, {part.box.rows()}};
  return {part.name, Dtype::f32, {part.box.rows(), part.box.columns()}};
}

}  // namespace

Result<Contents> write_rank_file(const std::string& folder, const std::string& name,
                                 const std::vector<Part>& parts, const NumberSource& source) {
  std::vector<TensorInfo> tensors;
  for (const Part& part : parts) tensors.push_back(info_of(part));
  const std::string header = safetensors_header(tensors, {});
  auto writer = SafetensorsWriter::create(folder + "/" + name, tensors);
  if (!writer) return fail(writer);

  Contents contents;
  auto offset = static_cast<int64_t>(header.size());
  for (const Part& part : parts) {
    Shard shard{name, offset, part.box, {}};
    for (int64_t begin = 0; begin < part.numbers(); begin += kWrittenPiece) {
      const auto numbers = source(part, begin, std::min(begin + kWrittenPiece, part.numbers()));
      if (!numbers) return fail(numbers);
      const auto bytes = std::as_bytes(*numbers);
      shard.hashes.push_back(hash_of(bytes));
      if (const auto written = writer->write(bytes); !written) return fail(written);
    }
    offset += shard.bytes();
    contents.tensors[part.name] = {part.shape, {std::move(shard)}};
  }
  if (const auto finished = writer->finish(); !finished) return fail(finished);
  contents.files[name] = {host_name(), offset, static_cast<int64_t>(header.size()),
                          hash_of(header)};
  return contents;
}

}  // namespace heddle::checkpoint
