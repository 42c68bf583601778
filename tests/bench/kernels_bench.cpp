// Every operator of a training step by itself, at the default shape: time, memory traffic against
// memcpy of as many bytes, share of the step. On one core. Usage: kernels_bench [fp32|bf16]
#include <ATen/ATen.h>
#include <ATen/Parallel.h>
#include <ATen/core/dispatch/Dispatcher.h>
#include <fmt/format.h>
#include <malloc.h>

#include <cmath>
#include <cstring>
#include <ctime>
#include <functional>
#include <string>
#include <vector>

#include "engine/kernels/operators.h"
#include "engine/kernels/update.h"

namespace {

using at::Tensor;
using List = std::vector<Tensor>;
namespace kernels = heddle::kernels;

constexpr int64_t kDim = 512, kLayers = 8, kHeads = 8, kKvHeads = 4, kHeadDim = 64, kFfn = 1536,
                  kVocab = 4096, kBatch = 2, kSeq = 512, kTokens = kBatch * kSeq;

struct Operator {
  std::string name;
  int64_t calls;  // of one step
  double bytes;   // read and written by a call, each once
  std::function<void()> run;
  bool base = false;  // a matrix product or attention: what the rest is measured against
};

double cpu_ms() { return 1e3 * static_cast<double>(std::clock()) / CLOCKS_PER_SEC; }

// CPU milliseconds of the fastest of many calls: other processes only ever make a call slower.
double fastest(const std::function<void()>& run) {
  run();
  double best = 1e30;
  const double begin = cpu_ms();
  for (int i = 0; i < 5 || cpu_ms() - begin < 400; ++i) {
    const double start = cpu_ms();
    run();
    best = std::min(best, cpu_ms() - start);
  }
  return best;
}

// The seconds of a memcpy that reads and writes `bytes` in all.
double memcpy_ms(double bytes) {
  const auto half = static_cast<size_t>(bytes / 2);
  std::vector<char> from(half, 1), to(half, 2);
  return fastest([&] { std::memcpy(to.data(), from.data(), half); });
}

torch::jit::Stack call(const char* name, std::initializer_list<c10::IValue> arguments) {
  torch::jit::Stack stack(arguments);
  c10::Dispatcher::singleton().findSchemaOrThrow(name, "").callBoxed(&stack);
  return stack;
}

// The products of a linear layer, as the model and its backward call them; `sums`: the gradient of
// x is added to another layer's.
void add_linear(std::vector<Operator>& all, const std::string& name, int64_t calls, int64_t in,
                int64_t out, bool sums, const at::TensorOptions& type) {
  const Tensor x = at::randn({kTokens, in}, type), weight = at::randn({out, in}, type),
               dy = at::randn({kTokens, out}, type), dx = at::zeros_like(x);
  all.push_back({"matmuls of " + name, calls, 0,
                 [=] {
                   x.mm(weight.t());
                   sums ? dx.addmm_(dy, weight) : dy.mm(weight);
                   dy.t().mm(x);
                 },
                 true});
}

List parameters_like(const at::TensorOptions& type) {
  List list{at::randn({kVocab, kDim}, type), at::randn({kVocab, kDim}, type)};
  for (int64_t layer = 0; layer < kLayers; ++layer) {
    for (int64_t rows : {kDim, kDim / 2, kDim / 2, kDim, kFfn, kFfn, kFfn})
      list.push_back(at::randn({rows, kDim}, type));
    for (int norm = 0; norm < 2; ++norm) list.push_back(at::randn({kDim}, type));
  }
  list.push_back(at::randn({kDim}, type));
  return list;
}

std::vector<Operator> operators(const at::TensorOptions& type) {
  const double size = static_cast<double>(at::empty({0}, type).element_size());
  const double hidden = kTokens * kDim * size, ffn = kTokens * kFfn * size,
               logit = kTokens * kVocab * size;
  std::vector<Operator> all;
  add_linear(all, "wq, wo", 2 * kLayers, kDim, kDim, false, type);
  add_linear(all, "wk, wv", 2 * kLayers, kDim, kKvHeads * kHeadDim, true, type);
  add_linear(all, "w3", kLayers, kDim, kFfn, false, type);
  add_linear(all, "w1", kLayers, kDim, kFfn, true, type);
  add_linear(all, "w2", kLayers, kFfn, kDim, false, type);
  add_linear(all, "output", 1, kDim, kVocab, false, type);

  const Tensor q = at::randn({kBatch, kSeq, kHeads, kHeadDim}, type),
               k = at::randn({kBatch, kSeq, kKvHeads, kHeadDim}, type), v = at::randn_like(k),
               dout = at::randn_like(q);
  const double scale = 1.0 / std::sqrt(double(kHeadDim));
  const auto attended = call("heddle::attention", {q, k, v, {}, {}, {}, {}, scale});
  const Tensor out = attended[0].toTensor(), logsumexp = attended[1].toTensor();
  all.push_back(
      {"attention", kLayers, 3 * hidden, [=] { kernels::attention(q, k, v, scale); }, true});
  all.push_back(
      {"attention_backward", kLayers, 6 * hidden,
       [=] {
         call("heddle::attention_backward", {dout, q, k, v, out, logsumexp, {}, {}, {}, {}, scale});
       },
       true});

  const Tensor angles = at::randn({kSeq, kHeadDim / 2}),
               table = at::stack({angles.cos(), angles.sin()}, -1),
               positions = at::arange(kSeq, at::kLong).repeat({kBatch, 1});
  all.push_back({"rope of q, its backward", 2 * kLayers, 2 * hidden,
                 [=] { kernels::rope(q, table, positions); }});
  all.push_back({"rope of k, its backward", 2 * kLayers, hidden,
                 [=] { kernels::rope(k, table, positions); }});

  const Tensor x = at::randn({kTokens, kDim}, type), dy = at::randn_like(x),
               weight = at::randn({kDim}, type);
  const Tensor rstd = call("heddle::rms_norm", {x, weight, 1e-5})[1].toTensor();
  all.push_back({"rms_norm", 1, 2 * hidden, [=] { kernels::rms_norm(x, weight, 1e-5); }});
  all.push_back({"rms_norm_backward", 1, 3 * hidden, [=] {
                   call("heddle::rms_norm_backward", {dy, x, weight, rstd});
                 }});
  // With the residuals, and the sums of their gradients.
  all.push_back({"add_rms_norm", 2 * kLayers, 4 * hidden, [=] {
                   call("heddle::add_rms_norm", {x, dy, weight, 1e-5});
                 }});
  all.push_back({"rms_norm_backward_add", 2 * kLayers, 4 * hidden, [=] {
                   call("heddle::rms_norm_backward_add", {dy, x, weight, rstd, dy});
                 }});

  const Tensor gate = at::randn({kTokens, kFfn}, type), up = at::randn_like(gate),
               dffn = at::randn_like(gate);
  all.push_back({"swiglu", kLayers, 3 * ffn, [=] { kernels::swiglu(gate, up); }});
  all.push_back({"swiglu_backward", kLayers, 5 * ffn, [=] {
                   call("heddle::swiglu_backward", {dffn, gate, up});
                 }});

  const Tensor logits = at::randn({kTokens, kVocab}, type),
               labels = at::randint(0, kVocab, {kTokens}, at::kLong), one = at::ones({});
  const Tensor lse = call("heddle::cross_entropy", {logits, labels})[1].toTensor();
  all.push_back({"cross_entropy", 1, logit, [=] { kernels::cross_entropy(logits, labels); }});
  all.push_back({"cross_entropy_backward", 1, 2 * logit, [=] {
                   call("heddle::cross_entropy_backward", {one, logits, labels, lse});
                 }});

  const Tensor embedding = at::randn({kVocab, kDim}, type);
  all.push_back({"embedding", 1, 2 * hidden, [=] { at::embedding(embedding, labels); }});
  all.push_back({"embedding_dense_backward", 1, 3 * hidden + kVocab * kDim * size,
                 [=] { at::embedding_dense_backward(dy, labels, kVocab, -1, false); }});

  const List parameters = parameters_like(at::kFloat), exp_avgs = parameters_like(at::kFloat),
             grads = parameters_like(at::kFloat);
  List exp_avg_sqs;
  double elements = 0;
  for (const Tensor& grad : grads) {
    exp_avg_sqs.push_back(grad.square());
    elements += static_cast<double>(grad.numel());
  }
  all.push_back({"squared_norms", 1, 4 * elements, [=] { kernels::squared_norms(grads); }});
  const Tensor lr = at::scalar_tensor(1e-6, at::kDouble), step = at::scalar_tensor(10, at::kLong),
               factor = at::scalar_tensor(1e-3F, at::kFloat);
  all.push_back({"adamw_", 1, 28 * elements, [=] {
                   kernels::update_("heddle::adamw_", {parameters, exp_avgs, exp_avg_sqs}, grads,
                                    lr, step, factor, {0.9, 0.95, 1e-8, 0.1});
                 }});
  return all;
}

}  // namespace

int main(int argc, char** argv) {
  const std::string type = argc > 1 ? argv[1] : "fp32";
  if (type != "fp32" && type != "bf16") {
    fmt::print(stderr, "kernels_bench: {}: unknown type; valid: fp32 bf16\n", type);
    return 2;
  }
  // Results reuse touched memory, as in a step: fresh pages cost more than most operators.
  mallopt(M_MMAP_THRESHOLD, 1 << 30);
  mallopt(M_TRIM_THRESHOLD, 1 << 30);
  at::set_num_threads(1);
  at::manual_seed(1);
  const auto all = operators(type == "bf16" ? at::kBFloat16 : at::kFloat);
  std::vector<double> ms;
  double base = 0, rest = 0;
  for (const Operator& each : all) {
    ms.push_back(fastest(each.run));
    (each.base ? base : rest) += ms.back() * static_cast<double>(each.calls);
  }
  fmt::print(
      "{} on one core, CPU time of the fastest call\n{:<26} {:>5} {:>9} {:>8} {:>12} {:>8}\n", type,
      "operator", "calls", "ms a call", "GB/s", "of memcpy", "of step");
  double moved = 0;
  for (size_t i = 0; i < all.size(); ++i) {
    const Operator& each = all[i];
    const double share = ms[i] * static_cast<double>(each.calls) / (base + rest);
    if (each.base) {
      fmt::print("{:<26} {:>5} {:>9.3f} {:>8} {:>12} {:>7.2f}%\n", each.name, each.calls, ms[i], "",
                 "", 100 * share);
    } else {
      const double copied = memcpy_ms(each.bytes);
      moved += copied * static_cast<double>(each.calls);
      fmt::print("{:<26} {:>5} {:>9.3f} {:>8.1f} {:>11.0f}% {:>7.2f}%\n", each.name, each.calls,
                 ms[i], each.bytes / ms[i] / 1e6, 100 * copied / ms[i], 100 * share);
    }
  }
  fmt::print("matrix products and attention {:.1f} ms, the rest {:.1f} ms: {:.3f} of them alone\n",
             base, rest, (base + rest) / base);
  fmt::print("the rest moved at memcpy's speed {:.1f} ms: {:.3f}\n", moved, (base + moved) / base);
  return 0;
}
