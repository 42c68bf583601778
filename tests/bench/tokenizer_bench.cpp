// How fast a tokenizer reads a text on one core: cold (a fresh tokenizer) and warm, the best of
// several. tokenizer_bench TOKENIZER.json TEXT
#include <fmt/format.h>

#include <algorithm>
#include <ctime>
#include <fstream>
#include <sstream>

#include "engine/data/tokenizer.h"

using heddle::data::Tokenizer;

namespace {

double seconds_to_encode(Tokenizer& tokenizer, const std::string& text, size_t& tokens) {
  const std::clock_t start = std::clock();
  tokens = tokenizer.encode(text).value().size();
  return static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) {
    fmt::print(stderr, "usage: tokenizer_bench TOKENIZER.json TEXT\n");
    return 2;
  }
  std::ifstream file(argv[2], std::ios::binary);
  std::ostringstream content;
  if (!file || !(content << file.rdbuf())) {
    fmt::print(stderr, "{}: cannot be read\n", argv[2]);
    return 2;
  }
  const std::string text = content.str();
  const double megabytes = static_cast<double>(text.size()) / 1e6;
  double cold = 1e9;
  double warm = 1e9;
  size_t tokens = 0;
  for (int round = 0; round < 10; ++round) {
    auto tokenizer = Tokenizer::load(argv[1]);
    if (!tokenizer) {
      fmt::print(stderr, "{}\n", tokenizer.error().message);
      return 2;
    }
    cold = std::min(cold, seconds_to_encode(*tokenizer, text, tokens));
    warm = std::min(warm, seconds_to_encode(*tokenizer, text, tokens));
  }
  fmt::print("{:.3f} MB, {} tokens: cold {:.1f} MB/s, warm {:.1f} MB/s\n", megabytes, tokens,
             megabytes / cold, megabytes / warm);
}
