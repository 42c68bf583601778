// Blobs of a store: stretches of series at every level, thinned curves.
#include "storage/chunk.h"
#include "storage/curve.h"
#include "tests/fuzz/input.h"

using namespace heddle::storage;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  std::string_view input = heddle::fuzz::text(data, size);
  const uint8_t what = heddle::fuzz::choice(input);
  const std::vector<Bin> bins = unpack(input, what % 3);
  if (!bins.empty()) {
    (void)merged(bins);
    (void)thinned(bins, what);
    if (unpack(pack(bins, what % 3), what % 3).size() != bins.size()) std::abort();
  }
  Curve curve(60, 3);
  curve.load(input);
  for (int64_t step = 1; step < 100; ++step) curve.add(step, 1.0);
  (void)curve.median();
  if (curve.points().size() > 60) std::abort();
  return 0;
}
