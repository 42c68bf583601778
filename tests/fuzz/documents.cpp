// A text file of each kind, packed or not, or a pipe by its name; its documents.
#include "engine/data/documents.h"

#include <sys/stat.h>

#include <array>

#include "engine/data/text_encoding.h"
#include "tests/fuzz/input.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace heddle;
  constexpr std::array kNames = {"a.txt", "a.jsonl", "a.json", "a.jsonl.gz", "a.txt.zst"};
  std::string_view input = fuzz::text(data, size);
  const uint8_t kind = fuzz::choice(input);
  const std::string path = fuzz::folder() + "/" + kNames[kind % kNames.size()];
  std::filesystem::remove(path);
  if (kind >= 0xF0) {
    if (mkfifo(path.c_str(), 0600) != 0) std::abort();
    if (data::ByteStream::open({path, {}, 0, 0}, "text")) std::abort();
    return 0;
  }
  fuzz::file(kNames[kind % kNames.size()], input);
  const auto sources = data::find_sources({path});
  if (!sources) std::abort();
  (void)data::check_encodings(sources->files);
  data::ChunkReader reader(sources->files, "text", {});
  while (true) {
    const auto chunk = reader.next();
    if (!chunk || !*chunk) return 0;
    const auto take = [](const data::DocumentPart&) -> Result<> { return {}; };
    if (!data::for_each_document(**chunk, "text", {take, [](const std::string&) {}})) return 0;
  }
}
