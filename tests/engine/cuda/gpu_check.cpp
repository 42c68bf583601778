// gpu_check kernels | attention | events: on this machine's first GPU, a line of JSON a check; exit
// code 1 if one failed. Run by packaging/gpu-check.sh.
//
// kernels: every operator of Heddle in fp32 and bf16 against the CPU's, on shapes that are odd on
// purpose. attention: of a context-parallel rank, its distance from the CPU's; by shape, its time
// too. events: whether the time between an event of an eager step and one of a recorded step can be
// told.
#include <ATen/ATen.h>
#include <ATen/core/dispatch/Dispatcher.h>
#include <fmt/ranges.h>

#include <chrono>
#include <cmath>
#include <functional>
#include <iostream>
#include <nlohmann/json.hpp>

#include "engine/graph/error_text.h"
#include "engine/kernels/sight_numbers.h"
#include "engine/runtime/device.h"

namespace {

using namespace heddle;
using at::Tensor;
using nlohmann::json;
using torch::jit::Stack;

bool all_well = true;
c10::Device gpu = c10::kCPU;

void tell(const std::string& check, bool ok, json values) {
  all_well = all_well && ok;
  json line = {{"check", check}, {"ok", ok}};
  line.update(values);
  std::cout << line.dump() << std::endl;
}

// An exception of a check is its result; the next one is tried.
void attempt(const std::string& check, const std::function<void()>& run) {
  try {
    run();
  } catch (const std::exception& error) {
    tell(check, false, {{"error", graph::error_text(error)}});
  }
}

c10::IValue on(c10::Device device, const c10::IValue& value) {
  // A copy even where it is there already: some operators write.
  if (value.isTensor()) return value.toTensor().to(device, false, true);
  if (value.isTensorList()) {
    std::vector<Tensor> list;
    for (const Tensor& each : value.toTensorVector()) list.push_back(each.to(device, false, true));
    return list;
  }
  return value;
}

std::vector<Tensor> tensors_of(const c10::IValue& value) {
  if (value.isTensor()) return {value.toTensor()};
  if (value.isTensorList()) return value.toTensorVector();
  return {};
}

/// An operator's values on a device: its results, then its arguments.
std::vector<Tensor> outcome(const std::string& op, const Stack& arguments, c10::Device device) {
  Stack given;
  for (const c10::IValue& each : arguments) given.push_back(on(device, each));
  Stack stack = given;
  c10::Dispatcher::singleton().findSchemaOrThrow(("heddle::" + op).c_str(), "").callBoxed(&stack);
  stack.insert(stack.end(), given.begin(), given.end());
  std::vector<Tensor> all;
  for (const c10::IValue& each : stack)
    for (const Tensor& tensor : tensors_of(each)) all.push_back(tensor.cpu().to(at::kDouble));
  return all;
}

/// The largest distance of a result from the other's, by norms, relative to the latter.
double distance(const std::vector<Tensor>& found, const std::vector<Tensor>& expected) {
  double furthest = 0;
  for (size_t i = 0; i < expected.size(); ++i) {
    TORCH_CHECK(found.at(i).sizes() == expected[i].sizes(), "result ", i, " has other sizes");
    const double norm = expected[i].norm().item<double>();
    const double away = (found[i] - expected[i]).nan_to_num(1e30).norm().item<double>();
    furthest = std::max(furthest, away / std::max(norm, 1e-12));
  }
  return furthest;
}

// `of` tells the check from others of the operator.
void compare(const std::string& op, at::ScalarType type, const Stack& arguments,
             const std::string& of) {
  const std::string check = fmt::format("{} {} {}", op, c10::toString(type), of);
  attempt(check, [&] {
    // bf16 results are rounded once, to 2⁻⁹ of themselves; sums in fp32 differ by their order.
    const double limit = type == at::kBFloat16 ? 8e-3 : 1e-5;
    const double away = distance(outcome(op, arguments, gpu), outcome(op, arguments, c10::kCPU));
    tell(check, away <= limit, {{"distance", away}, {"limit", limit}});
  });
}

void compare(const std::string& op, at::ScalarType type, const Stack& arguments) {
  const Tensor first = tensors_of(arguments[0]).at(0);
  compare(op, type, arguments, fmt::format("{}", fmt::join(first.sizes(), " x ")));
}

void model_kernels(at::ScalarType type) {
  const auto randn = [&](at::IntArrayRef sizes) { return at::randn(sizes).to(type); };
  const auto check = [&](const char* op, const Stack& arguments) { compare(op, type, arguments); };
  const auto longs = [](int64_t below, at::IntArrayRef sizes) {
    return at::randint(0, below, sizes, at::kLong);
  };
  for (const int64_t dim : {37, 4096}) {
    const Tensor x = randn({1031, dim}), other = randn({1031, dim}), dy = randn({1031, dim}),
                 weight = at::randn({dim});
    const Tensor rstd = (x.to(at::kFloat).square().mean(-1) + 1e-5).rsqrt();
    check("rms_norm", {x, weight, 1e-5});
    check("rms_norm_backward", {dy, x, weight, rstd});
    check("add_rms_norm", {x, other, weight, 1e-5});
    check("rms_norm_backward_add", {dy, x, weight, rstd, other});
    check("swiglu", {x, other});
    check("swiglu_backward", {dy, x, other});
    check("joined_swiglu", {at::cat({x, other}, 1)});
    check("joined_swiglu_backward", {dy, at::cat({x, other}, 1)});
    check("accumulate_", {at::randn({1031, dim}), x});
  }
  const Tensor angles = at::randn({2048, 64});
  const Tensor table = at::stack({angles.cos(), angles.sin()}, -1),
               positions = longs(2048, {1, 1031});
  check("joined_rope", {randn({1031, 10 * 128}), table, positions, 6});
  check("joined_rope_backward",
        {randn({1031, 6, 128}), randn({1031, 2, 128}), randn({1031, 2, 128}), table, positions});
  check("rope", {randn({2, 1031, 3, 128}), at::stack({angles.cos(), angles.sin()}, -1),
                 longs(2048, {2, 1031}), false});

  for (const int64_t vocabulary : {1001, 128256}) {
    const Tensor logits = randn({59, vocabulary}), one = at::ones({});
    Tensor labels = longs(vocabulary, {59});
    labels[3] = -100;
    const Tensor logsumexp = logits.to(at::kFloat).logsumexp(-1);
    check("cross_entropy", {logits, labels});
    check("cross_entropy_backward", {one, logits, labels, logsumexp});
    const Tensor begin = at::scalar_tensor(vocabulary / 2, at::kLong);
    const Tensor part = logits.slice(1, vocabulary / 2).contiguous();
    check("vocabulary_statistics", {part, labels, begin, vocabulary});
    check("vocabulary_cross_entropy_backward", {one, part, labels, begin, logsumexp, vocabulary});
  }
  const Tensor out = randn({2, 131, 4, 64}), lse = at::randn({2, 4, 131});
  check("merge_attention", {out, lse, randn({2, 131, 4, 64}), at::randn({2, 4, 131})});
}

// Products as training has them: gradients with a scale a tensor are e5m2.
void float8_kernels() {
  const auto check = [](const char* op, const Stack& arguments) {
    compare(op, at::kBFloat16, arguments);
  };
  const Tensor a = at::randn({1040, 2064}).to(at::kBFloat16),
               b = at::randn({528, 2064}).to(at::kBFloat16);
  for (const bool by_row : {false, true}) {
    const auto of_gradient = by_row ? at::kFloat8_e4m3fn : at::kFloat8_e5m2;
    for (const at::ScalarType type : {at::kFloat8_e4m3fn, of_gradient}) {
      for (const bool transposed : {false, true})
        check("float8_quantize", {a, static_cast<int64_t>(type), by_row, transposed});
      const auto left = kernels::float8_quantize(a, type, by_row, false),
                 right = kernels::float8_quantize(b, at::kFloat8_e4m3fn, by_row, false);
      check("float8_mm", {left.values, left.inverse_scale, right.values, right.inverse_scale,
                          type == at::kFloat8_e4m3fn});
    }
  }
  const std::vector<Tensor> shards{at::randn({131, 257}), at::randn({520, 1040})};
  check("float8_largest", {shards});
  for (const Tensor& shard : shards) check("float8_cast", {shard, at::full({2}, 4.5), int64_t{1}});
  check("float8_transpose", {kernels::float8_quantize(a, at::kFloat8_e4m3fn, false, false).values});
}

void optimizer_kernels() {
  const auto check = [](const char* op, const Stack& arguments) {
    compare(op, at::kFloat, arguments);
  };
  std::vector<Tensor> lists[4];
  for (auto& list : lists)
    for (const int64_t size : {1, 70001, 4096}) list.push_back(at::randn({size}).abs());
  const Tensor lr = at::scalar_tensor(1e-3, at::kDouble), step = at::scalar_tensor(3, at::kLong),
               factor = at::scalar_tensor(0.5, at::kFloat);
  check("squared_norms", {lists[0]});
  std::vector<Tensor> halves;
  for (const Tensor& each : lists[0]) halves.push_back(each.to(at::kBFloat16));
  check("cast_list", {lists[0], static_cast<int64_t>(at::kBFloat16)});
  check("cast_list", {halves, static_cast<int64_t>(at::kFloat)});
  check("total_norm", {std::vector<Tensor>{lr, lr}});
  check("clip_factor", {at::scalar_tensor(4.0, at::kDouble), 1.0});
  check("adamw_", {lists[0], lists[1], lists[2], lists[3], lr, step, factor, 0.9, 0.95, 1e-8, 0.1});
  check("sgd_", {lists[0], lists[1], lists[2], lr, step, factor, 0.9, true, 0.1});
}

double seconds_of(runtime::DeviceRun& run, const std::function<void()>& work) {
  constexpr int kTimes = 5;
  work();
  run.finish();
  const auto begin = std::chrono::steady_clock::now();
  for (int i = 0; i < kTimes; ++i) work();
  run.finish();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count() / kTimes;
}

struct AttentionShape {
  int64_t tokens, heads, kv_heads, head_dim;
  int64_t documents;  // in a sequence; 0: causal alone
};

// Against the CPU's on the first 512 tokens, which is what the CPU can do in the time that there
// is.
void attention(runtime::DeviceRun& run, const AttentionShape& shape, at::ScalarType type) {
  const auto [tokens, heads, kv_heads, head_dim, documents] = shape;
  const std::string check =
      fmt::format("attention {} tokens {} heads {} kv {} dim {} documents {}", c10::toString(type),
                  tokens, heads, kv_heads, head_dim, documents);
  attempt(check, [&] {
    const auto randn = [&](int64_t many) {
      return at::randn({1, tokens, many, head_dim}).to(type);
    };
    const Tensor q = randn(heads), k = randn(kv_heads), v = randn(kv_heads), dout = randn(heads);
    c10::IValue first, last, sight, some_sight;  // of all tokens, and of those on the CPU
    const int64_t some = std::min<int64_t>(tokens, 512);
    if (documents > 0) {
      const int64_t length = (tokens + documents - 1) / documents;
      const Tensor index = at::arange(tokens).view({1, tokens});
      const Tensor begins = index.div(length, "floor") * length;
      first = begins;
      last = index;
      sight = kernels::sight_of(begins, index, {}, tokens);
      some_sight = kernels::sight_of(begins.narrow(1, 0, some), index.narrow(1, 0, some), {}, some);
    }
    const double scale = 1 / std::sqrt(static_cast<double>(head_dim));
    const auto forward = [&](c10::Device device, int64_t some, const c10::IValue& seen) {
      Stack stack;
      for (const c10::IValue& each : {c10::IValue(q), c10::IValue(k), c10::IValue(v), first, last})
        stack.push_back(each.isTensor() ? on(device, each.toTensor().narrow(1, 0, some)) : each);
      stack.insert(stack.end(), {c10::IValue(), seen.isTensor() ? on(device, seen) : seen, scale});
      c10::Dispatcher::singleton().findSchemaOrThrow("heddle::attention", "").callBoxed(&stack);
      return std::vector{stack[0].toTensor(), stack[1].toTensor()};
    };
    const auto expected = forward(c10::kCPU, some, some_sight);
    const auto found = forward(gpu, tokens, sight);
    const auto as_double = [](const Tensor& x) { return x.cpu().to(at::kDouble); };
    const double limit = type == at::kBFloat16 ? 8e-3 : 1e-4;
    const double away =
        distance({as_double(found[0].narrow(1, 0, some)), as_double(found[1].narrow(2, 0, some))},
                 {as_double(expected[0]), as_double(expected[1])});

    std::vector<c10::IValue> there;
    for (const c10::IValue& each :
         {c10::IValue(dout), c10::IValue(q), c10::IValue(k), c10::IValue(v), c10::IValue(found[0]),
          c10::IValue(found[1]), first, last, c10::IValue(), sight, c10::IValue(scale)})
      there.push_back(each.isTensor() ? on(gpu, each) : each);
    const auto call = [](const char* op, Stack stack) {
      c10::Dispatcher::singleton().findSchemaOrThrow(op, "").callBoxed(&stack);
    };
    const Stack inputs{there[1], there[2], there[3], there[6],
                       there[7], there[8], there[9], there[10]};
    const double ahead = seconds_of(run, [&] { call("heddle::attention", inputs); });
    const double back = seconds_of(run, [&] { call("heddle::attention_backward", there); });
    tell(check, away <= limit,
         {{"distance", away},
          {"limit", limit},
          {"forward_seconds", ahead},
          {"backward_seconds", back},
          {"peak_bytes", run.peak_bytes()}});
  });
}

// The second of `ranks` has parts of `length` tokens, one from the front and one from the back
// of a sequence, all of whose keys it has, in the order of the ranks.
void attention_of_a_part(int64_t ranks, int64_t length, int64_t document, at::ScalarType type) {
  const auto randn = [&](int64_t tokens, int64_t heads) {
    return at::randn({1, tokens, heads, 64}).to(type);
  };
  const auto part = [&](int64_t i) { return at::arange(i * length, (i + 1) * length); };
  std::vector<int64_t> begins;
  for (int64_t rank = 0; rank < ranks; ++rank)
    for (const int64_t i : {rank, 2 * ranks - 1 - rank}) begins.push_back(i * length);
  const Tensor last = at::cat({part(1), part(2 * ranks - 2)}).unsqueeze(0),
               first = last.div(document, "floor") * document, starts = at::tensor(begins);
  const Tensor q = randn(2 * length, 8), k = randn(2 * ranks * length, 2),
               v = randn(2 * ranks * length, 2), dout = randn(2 * length, 8),
               sight = kernels::sight_of(first, last, starts, k.size(1));
  const std::string of = fmt::format("part of {} ranks, tokens {}, documents of {}", ranks,
                                     2 * ranks * length, document);
  compare("attention", type, {q, k, v, first, last, starts, sight, 0.125}, of);
  Stack results{q, k, v, first, last, starts, sight, 0.125};
  c10::Dispatcher::singleton().findSchemaOrThrow("heddle::attention", "").callBoxed(&results);
  compare("attention_backward", type,
          {dout, q, k, v, results[0], results[1], first, last, starts, sight, 0.125}, of);
}

// One timed instruction: first eager, then recorded and launched, timed from an eager event.
void events(runtime::DeviceRun& run) {
  const Tensor a = at::randn({2048, 2048}, at::TensorOptions(gpu));
  Tensor sum = at::zeros_like(a);
  const auto step = [&] {
    run.before(0);
    at::mm_out(sum, a, a);
    run.after(0);
  };
  const auto interval = [&](const char* check, const std::function<void()>& work) {
    attempt(check, [&] {
      run.begin_times(1);
      work();
      run.finish();
      const auto found = run.interval(0);
      tell(check, found && found->end_us > found->begin_us,
           found ? json{{"begin_us", found->begin_us}, {"end_us", found->end_us}} : json{});
    });
  };
  interval("events eager", step);
  attempt("events recorded", [&] {
    auto recorded = run.record(step);
    TORCH_CHECK(recorded, recorded.error().message);
    for (const char* check : {"events first launch", "events second launch"})
      interval(check, [&] { (*recorded)->launch(); });
  });
}

}  // namespace

int main(int argc, char** argv) {
  const std::string what = argc == 2 ? argv[1] : "";
  if (what != "kernels" && what != "attention" && what != "events") {
    std::cerr << "usage: gpu_check kernels | attention | events" << std::endl;
    return 2;
  }
  const auto device = runtime::open_device("cuda", 0, false);
  if (!device) {
    std::cerr << device.error().message << std::endl;
    return 1;
  }
  gpu = *device;
  at::manual_seed(1);
  attempt(what, [&] {
    const auto run = runtime::make_device_run(gpu);
    tell("device", true, {{"name", run->name()}});
    if (what == "kernels") {
      for (const at::ScalarType type : {at::kFloat, at::kBFloat16}) model_kernels(type);
      float8_kernels();
      optimizer_kernels();
    } else if (what == "attention") {
      for (const at::ScalarType type : {at::kBFloat16, at::kFloat})
        for (const auto& [ranks, length, document] :
             {std::tuple(4, 500, 4000), std::tuple(4, 500, 70), std::tuple(2, 5000, 20000),
              std::tuple(2, 5000, 30)})
          attention_of_a_part(ranks, length, document, type);
      for (const at::ScalarType type : {at::kBFloat16, at::kFloat})
        for (const AttentionShape& shape :
             {AttentionShape{1024, 16, 4, 64, 0}, AttentionShape{8192, 32, 8, 128, 0},
              AttentionShape{8192, 32, 8, 128, 7}, AttentionShape{8192, 32, 8, 128, 300}})
          attention(*run, shape, type);
    } else {
      events(*run);
    }
  });
  return all_well ? 0 : 1;
}
