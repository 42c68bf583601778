// sample_store FILE: fills a store with the sample runs, to look at pages with data in them.
#include <cstdio>

#include "tests/support/sample_runs.h"

int main(int argc, char** argv) {
  if (argc != 2) return fprintf(stderr, "sample_store FILE\n"), 2;
  const auto filled = heddle::samples::fill(argv[1]);
  if (!filled) return fprintf(stderr, "%s\n", filled.error().message.c_str()), 1;
  return 0;
}
