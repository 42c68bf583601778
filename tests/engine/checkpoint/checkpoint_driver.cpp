// Saves step after step into a folder, as two ranks; prints each one that is whole. It is killed.
#include <cstdio>

#include "tests/engine/checkpoint/small_checkpoint.h"

int main(int, char** arguments) {
  const std::string folder = arguments[1];
  if (!heddle::checkpoint::remove_partials(folder)) return 1;
  const int64_t newest = small::newest_whole(folder);
  for (int64_t step = std::max<int64_t>(newest, 0) + 1;; ++step) {
    if (const auto saved = small::save(folder, step, small::recipe_of({.dp_shard = 2})); !saved) {
      std::fprintf(stderr, "%s\n", saved.error().message.c_str());
      return 1;
    }
    std::printf("%lld\n", static_cast<long long>(step));
    std::fflush(stdout);
  }
}
