// Collectives between GPUs.
#include <ATen/ops/empty.h>
#include <ATen/ops/mm.h>
#include <ATen/ops/randn.h>
#include <ATen/ops/zeros.h>

#include <cmath>

#include "engine/calibrate/measure_gpu.h"

namespace heddle::calibrate {
namespace {

using at::Tensor;
using cost::GpuWork;
using Pending = c10::intrusive_ptr<c10d::Work>;

constexpr int64_t kSmallest = int64_t{256} << 10, kLargest = int64_t{1} << 30;

// Whole tensors and this rank's shard of them, in bf16.
struct Buffers {
  Tensor whole, other, shard;
};

Buffers buffers_of(const GpuBench& bench, int64_t bytes, int64_t ranks) {
  const int64_t of_shard = bytes / 2 / ranks;
  return {at::zeros({of_shard * ranks}, bench.options(at::kBFloat16)),
          at::zeros({of_shard * ranks}, bench.options(at::kBFloat16)),
          at::zeros({of_shard}, bench.options(at::kBFloat16))};
}

Pending gather(c10d::Backend& group, const Buffers& of) {
  std::vector<Tensor> wholes{of.whole}, shards{of.shard};
  return group.allgather_into_tensor_coalesced(wholes, shards);
}

}  // namespace

void measure_collectives(GpuBench& bench, c10d::Backend& group) {
  const int64_t ranks = group.getSize();
  for (int64_t bytes = kSmallest; bytes <= kLargest; bytes *= 4) {
    if (!bench.fits(3 * bytes)) break;
    const Buffers of = buffers_of(bench, bytes, ranks);
    const auto measure = [&](GpuWork what, const char* name,
                             const std::function<Pending()>& start) {
      // One behind the other: a rank that comes late waits for the others but once.
      const int64_t calls = std::clamp<int64_t>((int64_t{64} << 20) / bytes, 1, 8);
      group.barrier()->wait();
      bench.add(what, name, {ranks}, static_cast<double>(of.whole.nbytes()),
                bench.time([&](int64_t) { start()->wait(); }, 1, calls));
    };
    measure(GpuWork::gather, "all_gather", [&] { return gather(group, of); });
    measure(GpuWork::scatter, "reduce_scatter", [&] {
      std::vector<Tensor> wholes{of.whole}, shards{of.shard};
      return group.reduce_scatter_tensor_coalesced(shards, wholes);
    });
    measure(GpuWork::all_reduce, "all_reduce", [&] {
      std::vector<Tensor> wholes{of.whole};
      return group.allreduce(wholes);
    });
    measure(GpuWork::all_to_all, "all_to_all", [&] {
      Tensor from = of.whole, to = of.other;
      std::vector<int64_t> equal;
      return group.alltoall_base(to, from, equal, equal);
    });
  }
}

cost::GpuContention measure_contention(GpuBench& bench, c10d::Backend& group) {
  constexpr int kRounds = 7;
  // A layer of 8 billion parameters, 8,192 tokens of its products; less where there is less room.
  int64_t bytes = int64_t{436} << 20, rows = 8192;
  constexpr int64_t kWidth = 4096;
  for (; !bench.fits(3 * bytes) && bytes > kSmallest; rows = std::max<int64_t>(rows / 2, 64))
    bytes /= 2;
  const int64_t ranks = group.getSize();
  const Buffers of = buffers_of(bench, bytes, ranks);
  const Tensor a = at::randn({rows, kWidth}, bench.options(at::kBFloat16)),
               b = at::randn({kWidth, kWidth}, bench.options(at::kBFloat16));
  Tensor c = at::empty({rows, kWidth}, bench.options(at::kBFloat16));
  const auto multiply = [&](int64_t products) {
    for (int64_t i = 0; i < products; ++i) at::mm_out(c, a, b);
  };
  multiply(4);
  gather(group, of)->wait();
  const double one = bench.seconds_of([&] { multiply(16); }) / 16;
  const double moved = bench.seconds_of([&] { gather(group, of)->wait(); });
  // The same number on all ranks is not needed: each has products enough to outlast the gather.
  const int64_t products = std::clamp<int64_t>(std::llround(3 * moved / one), 16, 512);

  std::vector<double> gather_alone, gather_beside, products_alone, products_beside;
  runtime::DeviceRun& run = bench.run();
  for (int round = 0; round < kRounds; ++round) {
    group.barrier()->wait();
    gather_alone.push_back(bench.seconds_of([&] { gather(group, of)->wait(); }));
    products_alone.push_back(bench.seconds_of([&] { multiply(products); }));
    group.barrier()->wait();
    run.begin_times(2);
    run.before(0);
    multiply(products / 4);
    run.starting(1);
    const Pending beside = gather(group, of);
    multiply(products - products / 4);
    run.after(0);
    beside->wait();
    run.finish();
    products_beside.push_back(bench.seconds_at(0));
    gather_beside.push_back(bench.seconds_at(1));
  }
  const auto median = [](std::vector<double>& seconds) {
    return timing_of(std::move(seconds)).seconds;
  };
  return {.ranks = ranks,
          .bytes = static_cast<int64_t>(of.whole.nbytes()),
          .gather_alone = median(gather_alone),
          .gather_beside = median(gather_beside),
          .products_alone = median(products_alone),
          .products_beside = median(products_beside)};
}

}  // namespace heddle::calibrate
