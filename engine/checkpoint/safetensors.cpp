#include "engine/checkpoint/safetensors.h"

#include <sys/mman.h>
#include <unistd.h>

#include <bit>
#include <cerrno>
#include <cstring>

#include "base/durable_file.h"
#include "base/plain_file.h"
#include "engine/checkpoint/safetensors_header.h"

namespace heddle::checkpoint {

static_assert(std::endian::native == std::endian::little, "safetensors files are little-endian");

Result<SafetensorsFile> SafetensorsFile::open(const std::string& path) {
  const auto opened = PlainFile::open_existing(path);
  if (!opened) return fail(opened);
  const auto size = static_cast<size_t>(opened->size());
  void* address =
      size == 0 ? nullptr : ::mmap(nullptr, size, PROT_READ, MAP_SHARED, opened->fd(), 0);
  if (address == MAP_FAILED) return fail("{}: cannot be mapped: {}", path, std::strerror(errno));

  SafetensorsFile file;
  file.path_ = path;
  if (address) {
    file.mapped_ = {static_cast<const std::byte*>(address), [size](const std::byte* bytes) {
                      ::munmap(const_cast<std::byte*>(bytes), size);
                    }};
  }
  auto header = parse_safetensors_header({file.mapped_.get(), size});
  if (!header) return fail("{}: {}", path, header.error().message);
  file.metadata_ = std::move(header->metadata);
  for (auto& [tensor, offset] : header->tensors) {
    file.by_name_.emplace(tensor.name, file.tensors_.size());
    file.tensors_.push_back(std::move(tensor));
    file.offsets_.push_back(offset);
  }
  return file;
}

const TensorInfo* SafetensorsFile::find(std::string_view name) const {
  const auto found = by_name_.find(std::string(name));
  return found == by_name_.end() ? nullptr : &tensors_[found->second];
}

std::span<const std::byte> SafetensorsFile::data(const TensorInfo& tensor) const {
  const auto found = by_name_.find(tensor.name);
  if (found == by_name_.end()) return {};
  const TensorInfo& own = tensors_[found->second];
  return {mapped_.get() + offsets_[found->second], static_cast<size_t>(own.bytes())};
}

void SafetensorsFile::release(std::span<const std::byte> bytes) const {
  static const auto page = static_cast<uintptr_t>(::sysconf(_SC_PAGESIZE));
  const auto begin = (reinterpret_cast<uintptr_t>(bytes.data()) + page - 1) / page * page;
  const auto end = reinterpret_cast<uintptr_t>(bytes.data() + bytes.size()) / page * page;
  // Pages that it refuses to drop stay, and do no harm.
  if (begin < end) ::madvise(reinterpret_cast<void*>(begin), end - begin, MADV_DONTNEED);
}

struct SafetensorsWriter::Output {
  std::string path;
  NewFile file;
  int64_t missing = 0;  // bytes declared and not written yet

  Result<> put(const void* bytes, size_t count) { return write_all(file.fd(), bytes, count, path); }
};

SafetensorsWriter::SafetensorsWriter(std::unique_ptr<Output> output) : output_(std::move(output)) {}
SafetensorsWriter::SafetensorsWriter(SafetensorsWriter&&) noexcept = default;
SafetensorsWriter& SafetensorsWriter::operator=(SafetensorsWriter&&) noexcept = default;
SafetensorsWriter::~SafetensorsWriter() = default;

Result<SafetensorsWriter> SafetensorsWriter::create(const std::string& path,
                                                    const std::vector<TensorInfo>& tensors,
                                                    const Metadata& metadata) {
  Result<NewFile> file = NewFile::create(path, kReadable);
  if (!file) return fail(file);
  auto output = std::make_unique<Output>(Output{.path = path, .file = std::move(*file)});
  for (const TensorInfo& tensor : tensors) output->missing += tensor.bytes();
  const std::string header = safetensors_header(tensors, metadata);
  if (auto done = output->put(header.data(), header.size()); !done) return fail(done);
  return SafetensorsWriter(std::move(output));
}

Result<> SafetensorsWriter::write(std::span<const std::byte> bytes) {
  if (static_cast<int64_t>(bytes.size()) > output_->missing)
    return fail("{}: {} bytes more than the tensors declared", output_->path,
                static_cast<int64_t>(bytes.size()) - output_->missing);
  output_->missing -= static_cast<int64_t>(bytes.size());
  return output_->put(bytes.data(), bytes.size());
}

Result<> SafetensorsWriter::finish() {
  Output& output = *output_;
  if (output.missing > 0)
    return fail("{}: {} bytes of the tensors declared were not written", output.path,
                output.missing);
  return place_durably(output.file, output.path);
}

}  // namespace heddle::checkpoint
