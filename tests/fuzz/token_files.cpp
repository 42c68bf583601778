// Files of tokens: NumPy's, Megatron's with an index, llm.c's. An index is of a .bin that fits it.
#include "engine/data/token_files.h"

#include <vector>

#include "tests/fuzz/input.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace heddle;
  std::string_view input = fuzz::text(data, size);
  const uint8_t kind = fuzz::choice(input) % 3;
  std::string path = fuzz::file(kind == 0 ? "ids.npy" : "ids.bin", input);
  std::filesystem::remove(fuzz::folder() + "/ids.idx");
  if (kind == 1) {
    fuzz::file("ids.idx", input);
    path = fuzz::file("ids.bin", std::string(40, '\1'));
  }
  const auto file = data::open_token_file(path, 1000);
  if (!file) return 0;
  const auto known = (*file)->await(0);
  std::vector<int64_t> ids(static_cast<size_t>(std::min<int64_t>(known->tokens, 64)));
  std::vector<uint8_t> begins(ids.size());
  (void)(*file)->read(0, ids, begins);
  (void)data::check_token_file(path, 1000);
  return 0;
}
