#include "engine/data/shard_writer.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>

#include "base/plain_file.h"

namespace heddle::data {
namespace {

tl::unexpected<Error> no_room(const std::string& why) {
  return fail("data.cache: {}; valid: a folder that can be written to, with room for the tokens",
              why);
}

/// Its name is there after a loss of power, too.
void sync_folder_of(const std::string& path) {
  const std::string folder = std::filesystem::path(path).parent_path();
  const int fd = open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (fd < 0) return;
  fsync(fd);
  close(fd);
}

Result<> take_place(NewFile& file, const std::string& path, bool durable) {
  if (durable && fsync(file.fd()) != 0)
    return no_room(fmt::format("{}: cannot be written: {}", path, std::strerror(errno)));
  if (auto placed = file.take_place(); !placed) return no_room(placed.error().message);
  if (durable) sync_folder_of(path);
  return {};
}

}  // namespace

ShardWriter::ShardWriter(NewFile file, std::string path, int64_t shard, uint64_t token_bytes)
    : file_(std::move(file)),
      path_(std::move(path)),
      shard_(shard),
      token_bytes_(token_bytes),
      boundaries_(static_cast<size_t>((tokens_of_shard(shard) + 7) / 8)),
      hash_(XXH3_createState()) {
  XXH3_64bits_reset(hash_.get());
}

Result<ShardWriter> ShardWriter::create(const std::string& folder, int64_t shard,
                                        uint64_t token_bytes) {
  std::string path = shard_path(folder, shard);
  auto file = NewFile::create(path);
  if (!file) return no_room(file.error().message);
  const ShardHeader unknown;  // as yet
  const std::string_view bytes(reinterpret_cast<const char*>(&unknown), sizeof(unknown));
  if (auto written = file->write(bytes); !written) return no_room(written.error().message);
  return ShardWriter(std::move(*file), std::move(path), shard, token_bytes);
}

Result<> ShardWriter::write(std::string_view bytes) {
  XXH3_64bits_update(hash_.get(), bytes.data(), bytes.size());
  if (auto written = file_.write(bytes); !written) return no_room(written.error().message);
  return {};
}

Result<> ShardWriter::append(std::span<const int32_t> ids) {
  tokens_ += ids.size();
  if (token_bytes_ == sizeof(int32_t))
    return write({reinterpret_cast<const char*>(ids.data()), ids.size_bytes()});
  const std::vector<uint16_t> narrow(ids.begin(), ids.end());
  return write({reinterpret_cast<const char*>(narrow.data()), narrow.size() * sizeof(uint16_t)});
}

Result<> ShardWriter::finish(ShardHeader header) {
  boundaries_.resize((tokens_ + 7) / 8);
  const auto* bits = reinterpret_cast<const char*>(boundaries_.data());
  if (auto written = write({bits, boundaries_.size()}); !written) return written;
  header.token_bytes = token_bytes_;
  header.tokens = tokens_;
  header.hash = XXH3_64bits_digest(hash_.get());
  if (pwrite(file_.fd(), &header, sizeof(header), 0) != sizeof(header))
    return no_room(fmt::format("{}: cannot be written: {}", path_, std::strerror(errno)));
  return take_place(file_, path_, true);
}

Result<> write_store_file(const std::string& path, std::string_view text, bool durable) {
  auto file = NewFile::create(path);
  if (!file) return no_room(file.error().message);
  if (auto written = file->write(text); !written) return no_room(written.error().message);
  return take_place(*file, path, durable);
}

Result<> verify_shard(const std::string& path) {
  const auto header = read_shard_header(path);
  if (!header) return fail(header);
  auto file = PlainFile::open_existing(path, PlainFile::Links::refuse, PlainFile::Owner::own);
  if (!file) return fail(file);
  file->skip_to(sizeof(ShardHeader));
  const std::unique_ptr<XXH3_state_t, decltype(&XXH3_freeState)> hash(XXH3_createState(),
                                                                      &XXH3_freeState);
  XXH3_64bits_reset(hash.get());
  while (true) {
    const auto bytes = file->read(size_t{1} << 20);
    if (!bytes) return fail(bytes);
    if (bytes->empty()) break;
    XXH3_64bits_update(hash.get(), bytes->data(), bytes->size());
  }
  if (XXH3_64bits_digest(hash.get()) == header->hash) return {};
  return fail("{}: is damaged; remove it, and it is made again", path);
}

}  // namespace heddle::data
