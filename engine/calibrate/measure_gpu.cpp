#include "engine/calibrate/measure_gpu.h"

#include <ATen/ops/add.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/mm.h>
#include <ATen/ops/rand.h>
#include <ATen/ops/randint.h>
#include <ATen/ops/randn.h>
#include <ATen/ops/scalar_tensor.h>
#include <ATen/ops/zeros.h>

#include <cmath>
#include <future>
#include <sstream>

#include "base/clock.h"
#include "base/process.h"
#include "engine/kernels/operators.h"
#include "engine/kernels/update.h"

namespace heddle::calibrate {
namespace {

using at::Tensor;
using cost::GpuWork;
using Tensors = std::vector<Tensor>;

constexpr double kSustained = 5;  // seconds, in the second half of which clock and power are steady

struct Product {
  const char* name;  // which operands are stored transposed: n no, t yes
  int64_t m, k, n;
};

// Products of 8,192 tokens, and of fewer, through layers of Llama models of 1, 8 and 70 billion
// parameters: forward, back to the input, to the weight; cut by tensor parallelism; and the
// vocabulary's.
constexpr Product kProducts[] = {
    {"nt", 8192, 4096, 4096},   {"nt", 8192, 4096, 6144},  {"nt", 8192, 4096, 28672},
    {"nt", 8192, 14336, 4096},  {"nn", 8192, 4096, 4096},  {"nn", 8192, 28672, 4096},
    {"tn", 4096, 8192, 4096},   {"tn", 28672, 8192, 4096}, {"nt", 8192, 2048, 2048},
    {"nt", 8192, 2048, 16384},  {"nt", 4096, 8192, 8192},  {"nt", 4096, 8192, 7168},
    {"nt", 2048, 4096, 4096},   {"nt", 512, 4096, 4096},   {"nt", 8192, 4096, 1792},
    {"nt", 4096, 4096, 128256}, {"nt", 1024, 1024, 1024},
};
// The one that goes on and on: large, and still one that fits.
constexpr Product kSustainedProduct = {"nt", 8192, 4096, 4096};

// Operands as they are stored, and the result.
struct Operands {
  Tensor a, b, c;
};

int64_t bytes_of(const Product& product) {
  return 2 * (product.m * product.k + product.k * product.n + product.m * product.n);
}

Operands operands_of(const GpuBench& bench, const Product& product) {
  const auto matrix = [&](int64_t rows, int64_t columns, char stored) {
    const auto options = bench.options(at::kBFloat16);
    return stored == 't' ? at::randn({columns, rows}, options).t()
                         : at::randn({rows, columns}, options);
  };
  return {matrix(product.m, product.k, product.name[0]),
          matrix(product.k, product.n, product.name[1]),
          at::empty({product.m, product.n}, bench.options(at::kBFloat16))};
}

template <typename Value, typename Make>
std::vector<Value> several(int64_t count, const Make& make) {
  std::vector<Value> all;
  for (int64_t i = 0; i < count; ++i) all.push_back(make());
  return all;
}

double flops_of(const Product& product) {
  return 2.0 * static_cast<double>(product.m) * static_cast<double>(product.k) *
         static_cast<double>(product.n);
}

void measure_products(GpuBench& bench) {
  for (const Product& product : kProducts) {
    if (!bench.fits(bytes_of(product))) continue;
    const int64_t sets = bench.sets(bytes_of(product));
    const auto all = several<Operands>(sets, [&] { return operands_of(bench, product); });
    const auto multiply = [&](int64_t i) {
      Tensor result = all[static_cast<size_t>(i)].c;
      at::mm_out(result, all[static_cast<size_t>(i)].a, all[static_cast<size_t>(i)].b);
    };
    bench.add(GpuWork::product, product.name, {product.m, product.k, product.n}, flops_of(product),
              bench.time(multiply, sets));
  }
}

void measure_float8_products(GpuBench& bench) {
  if (!bench.gpu().eight_bits) return;
  for (const Product& product : kProducts) {
    // Both operands lie along k there, however they were made.
    if (product.name != std::string_view("nt") || !bench.fits(2 * bytes_of(product))) continue;
    const auto quantized = [&](int64_t rows) {
      return kernels::float8_quantize(at::randn({rows, product.k}, bench.options(at::kBFloat16)),
                                      at::kFloat8_e4m3fn, false, false);
    };
    const kernels::Float8Matrix a = quantized(product.m), b = quantized(product.n);
    bench.add(GpuWork::float8_product, product.name, {product.m, product.k, product.n},
              flops_of(product), bench.time([&](int64_t) { kernels::float8_mm(a, b, true); }, 1));
  }
}

// Clock, power and temperature now, as the driver's tool tells them.
std::string state_of(c10::Device gpu) {
  process::Command ask;
  ask.argv = {"nvidia-smi",
              "--query-gpu=clocks.sm,clocks.max.sm,power.draw,power.limit,temperature.gpu",
              "--format=csv,noheader,nounits", "-i", runtime::pci_address(gpu)};
  const auto answer = process::run(ask);
  if (!answer || answer->exit_code != 0) return "clock and power are not known: no nvidia-smi";
  std::vector<std::string> words;
  std::istringstream line(answer->out);
  for (std::string word; std::getline(line, word, ',');)
    words.push_back(word.substr(std::min(word.find_first_not_of(" \n"), word.size())));
  if (words.size() < 5) return "clock and power are not known: nvidia-smi says nothing of them";
  words[4] = words[4].substr(0, words[4].find('\n'));
  return fmt::format("{} of {} MHz, {} of {} W, {} °C", words[0], words[1], words[2], words[3],
                     words[4]);
}

// On and on; what the tool tells meanwhile.
std::string measure_sustained(GpuBench& bench) {
  constexpr int kBatch = 64;
  const Product& product = kSustainedProduct;
  if (!bench.fits(bytes_of(product))) return "clock and power are not known: no product is so long";
  const Operands of = operands_of(bench, product);
  Tensor result = of.c;
  std::future<std::string> state;
  std::vector<double> seconds;
  for (const auto begin = Clock::now(); seconds_since(begin) < kSustained;) {
    const bool steady = seconds_since(begin) > kSustained / 2;
    if (steady && !state.valid()) state = std::async(std::launch::async, &state_of, bench.device());
    const double took = bench.seconds_of([&] {
      for (int i = 0; i < kBatch; ++i) at::mm_out(result, of.a, of.b);
    });
    if (steady) seconds.push_back(took / kBatch);
  }
  if (seconds.empty()) return "clock and power are not known: products take too long";
  bench.add(GpuWork::sustained_product, product.name, {product.m, product.k, product.n},
            flops_of(product), timing_of(std::move(seconds)));
  return state.get();
}

struct AttentionShape {
  int64_t tokens, heads, kv_heads, head_dim;
};
constexpr AttentionShape kAttention[] = {{4096, 32, 8, 128},
                                         {8192, 32, 8, 128},
                                         {8192, 16, 2, 128},
                                         {8192, 32, 8, 64},
                                         {16384, 32, 8, 128}};

// A sequence at a time, causal.
void measure_attention(GpuBench& bench) {
  for (const auto& [tokens, heads, kv_heads, head_dim] : kAttention) {
    // q, k, v, out and the gradients of all of them.
    if (!bench.fits(2 * tokens * head_dim * (4 * heads + 4 * kv_heads))) continue;
    const auto randn = [&](int64_t many) {
      return at::randn({1, tokens, many, head_dim}, bench.options(at::kBFloat16));
    };
    const Tensor q = randn(heads), k = randn(kv_heads), v = randn(kv_heads), dout = randn(heads);
    const double scale = 1 / std::sqrt(static_cast<double>(head_dim));
    const auto [out, logsumexp] = kernels::attention_part(q, k, v, {}, scale);
    // Two products, half of which causal attention does not see; five to go back.
    const double flops = 2.0 * static_cast<double>(tokens) * static_cast<double>(tokens) *
                         static_cast<double>(heads) * static_cast<double>(head_dim);
    const std::vector<int64_t> shape{tokens, heads, head_dim};
    bench.add(GpuWork::attention, "heddle.attention", shape, flops,
              bench.time([&](int64_t) { kernels::attention_part(q, k, v, {}, scale); }, 1));
    const auto back = [&, out = out, logsumexp = logsumexp](int64_t) {
      kernels::attention_part_backward(dout, q, k, v, out, logsumexp, {}, scale);
    };
    bench.add(GpuWork::attention_backward, "heddle.attention_backward", shape, 2.5 * flops,
              bench.time(back, 1));
  }
}

// Operators that memory limits, on 8,192 tokens: operands are read once, results written once.
void measure_one_pass(GpuBench& bench) {
  constexpr int64_t kTokens = 8192, kDim = 4096, kVocabulary = 32000,
                    kParameters = int64_t{1} << 26;
  const auto measure = [&](const char* name, int64_t bytes, const auto& make, const auto& call) {
    if (!bench.fits(bytes)) return;
    using Arguments = decltype(make());
    const int64_t sets = bench.sets(bytes);
    const auto all = several<Arguments>(sets, make);
    bench.add(GpuWork::one_pass, name, {}, static_cast<double>(bytes),
              bench.time([&](int64_t i) { call(all[static_cast<size_t>(i)]); }, sets));
  };
  const auto randn = [&](int64_t rows, int64_t columns) {
    return at::randn({rows, columns}, bench.options(at::kBFloat16));
  };
  const auto three = [&] {
    return Operands{randn(kTokens, kDim), randn(kTokens, kDim), randn(kTokens, kDim)};
  };
  constexpr int64_t kBytes = 2 * kTokens * kDim;
  measure("aten.add", 3 * kBytes, three, [](const Operands& of) {
    Tensor result = of.c;
    at::add_out(result, of.a, of.b);
  });
  measure("heddle.swiglu", 3 * kBytes, three,
          [](const Operands& of) { kernels::swiglu(of.a, of.b); });
  const Tensor weight = at::randn({kDim}, bench.options(at::kFloat));
  measure("heddle.rms_norm", 2 * kBytes, three,
          [&](const Operands& of) { kernels::rms_norm(of.a, weight, 1e-5); });
  const Tensor labels = at::randint(kVocabulary, {kTokens}, bench.options(at::kLong));
  measure(
      "heddle.cross_entropy", 2 * kTokens * kVocabulary,
      [&] { return randn(kTokens, kVocabulary); },
      [&](const Tensor& logits) { kernels::cross_entropy(logits, labels); });
  const Tensor lr = at::scalar_tensor(1e-3, bench.options(at::kDouble)),
               step = at::scalar_tensor(1, bench.options(at::kLong)),
               factor = at::scalar_tensor(1, bench.options(at::kFloat));
  // Parameter, both moments and gradient are read, all but the last are written.
  measure(
      "heddle.adamw_", 7 * 4 * kParameters,
      [&] {
        return several<Tensors>(
            4, [&] { return Tensors{at::rand({kParameters}, bench.options(at::kFloat))}; });
      },
      [&](const std::vector<Tensors>& of) {
        kernels::update_("heddle::adamw_", {of[0], of[1], of[2]}, of[3], lr, step, factor,
                         {0.9, 0.95, 1e-8, 0.1});
      });
}

// Kernels with next to nothing to do: what it takes from one to the next.
Result<> measure_launches(GpuBench& bench) {
  constexpr int64_t kKernels = 512;
  Tensor few = at::zeros({32}, bench.options(at::kFloat));
  const auto step = [&] {
    for (int64_t i = 0; i < kKernels; ++i) few.add_(1);
  };
  const auto each = [](Timing timing) { return Timing{timing.seconds / kKernels, timing.spread}; };
  bench.add(GpuWork::launch, "aten.add_", {}, 0, each(bench.time([&](int64_t) { step(); }, 1, 1)));
  auto recorded = bench.run().record(step);
  if (!recorded) return fail(recorded);
  bench.add(GpuWork::graph_launch, "aten.add_", {}, 0,
            each(bench.time([&](int64_t) { (*recorded)->launch(); }, 1, 1)));
  return {};
}

void measure_copies(GpuBench& bench) {
  constexpr int64_t kBytes = int64_t{256} << 20;
  if (!bench.fits(kBytes)) return;
  Tensor there = at::empty({kBytes}, bench.options(at::kByte));
  Tensor here = runtime::allocate_beside(bench.device(), kBytes);
  const auto copy = [&](GpuWork what, const char* name, Tensor& to, const Tensor& from) {
    bench.add(what, name, {}, static_cast<double>(kBytes),
              bench.time([&](int64_t) { to.copy_(from, /*non_blocking=*/true); }, 1));
  };
  copy(GpuWork::to_host, "to pinned memory", here, there);
  copy(GpuWork::from_host, "from pinned memory", there, here);
}

}  // namespace

Result<std::string> measure_gpu(GpuBench& bench) {
  measure_products(bench);
  measure_float8_products(bench);
  std::string state = measure_sustained(bench);
  measure_attention(bench);
  measure_one_pass(bench);
  measure_copies(bench);
  if (const auto launches = measure_launches(bench); !launches) return fail(launches);
  return state;
}

}  // namespace heddle::calibrate
