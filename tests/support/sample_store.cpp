// sample_store FILE [RUNS]: fills a store with the sample runs, and with so many more, to look at
// pages with data in them.
#include <cstdio>
#include <cstdlib>

#include "tests/support/sample_runs.h"

int main(int argc, char** argv) {
  if (argc != 2 && argc != 3) return fprintf(stderr, "sample_store FILE [RUNS]\n"), 2;
  const auto filled = heddle::samples::fill(argv[1]);
  if (!filled) return fprintf(stderr, "%s\n", filled.error().message.c_str()), 1;
  if (argc == 2) return 0;
  const auto many = heddle::samples::fillMany(argv[1], atoi(argv[2]));
  if (!many) return fprintf(stderr, "%s\n", many.error().message.c_str()), 1;
  return 0;
}
