// One of two ranks that train the toy on the CPU: step by step, or on a device that takes the whole
// step as one launch. Prints each step's outputs and weights, bit by bit, then the warnings; where
// steps are put in line ahead of the numbers of those before, the weights at the end alone.
#include <ATen/ATen.h>
#include <ATen/Parallel.h>
#include <fmt/format.h>

#include <cstring>
#include <functional>
#include <iostream>

#include "../graph/toy.h"
#include "engine/graph/error_text.h"
#include "engine/passes/pipeline.h"
#include "engine/runtime/executor.h"
#include "engine/runtime/process_groups.h"

namespace {

using namespace heddle;

// A recorded step calls its operators again; "refuse" gives up in the middle of the recording.
class LaunchingRun final : public runtime::DeviceRun {
 public:
  explicit LaunchingRun(bool refuses) : refuses_(refuses) {}

  bool records() const override { return true; }
  Result<std::unique_ptr<runtime::RecordedStep>> record(
      const std::function<void()>& step) override {
    if (!refuses_) return std::make_unique<Launch>(step);
    return fail("an operator waits for the host");
  }
  void begin_times(size_t instructions) override { cpu_->begin_times(instructions); }
  void before(size_t instruction) override { cpu_->before(instruction); }
  void after(size_t instruction) override { cpu_->after(instruction); }
  void starting(size_t instruction) override { cpu_->starting(instruction); }
  void waited(size_t instruction, const c10d::Work& work) override {
    cpu_->waited(instruction, work);
  }
  std::optional<runtime::Interval> interval(size_t instruction) const override {
    return cpu_->interval(instruction);
  }
  int64_t bytes_in_use() const override { return cpu_->bytes_in_use(); }
  int64_t peak_bytes() const override { return cpu_->peak_bytes(); }

 private:
  struct Launch final : runtime::RecordedStep {
    explicit Launch(std::function<void()> step) : step(std::move(step)) {}
    void launch() override { step(); }
    std::function<void()> step;
  };
  bool refuses_;
  std::unique_ptr<runtime::DeviceRun> cpu_ = runtime::make_cpu_run();
};

std::string bits(const at::Tensor& tensor) {
  const at::Tensor bytes = tensor.contiguous();
  std::string text;
  for (size_t i = 0; i < bytes.nbytes(); ++i)
    text += fmt::format("{:02x}", static_cast<const uint8_t*>(bytes.const_data_ptr())[i]);
  return text;
}

void run(const std::string& how, const std::string& folder, int rank) {
  runs::RankContext context;
  context.run_dir = folder;
  context.rank = rank;
  context.launch.world_size = context.launch.local_ranks = 2;
  recipe::Recipe recipe;
  recipe.parallelism.dp_shard = 2;
  if (const auto met = runtime::init_process_groups(context, recipe::Layout(recipe), at::kCPU);
      !met)
    throw std::runtime_error(met.error().message);

  graph::Graph toy = capture_toy();
  passes::PlanOptions options;
  options.buckets = passes::by_block(toy);
  options.scratch_bytes = [](const graph::Graph& graph, const graph::Node& node) {
    return node.op->scratch ? node.op->scratch(graph, node, {.threads = at::get_num_threads()})
                            : int64_t{0};
  };
  toy.micro_batches = 2;
  passes::Plan plan = passes::plan(std::move(toy), options);
  at::manual_seed(7 + rank);
  runtime::NamedTensors states;
  for (const graph::Binding& state : plan.graph.states) {
    const graph::Value& value = plan.graph.values[state.value];
    states[state.name] =
        state.name.ends_with(".grad") ? at::zeros(value.sizes) : at::randn(value.sizes);
  }
  auto program =
      runtime::Program::create(std::move(plan.graph), std::move(plan.memory), states, at::kCPU);
  if (!program) throw std::runtime_error(program.error().message);
  runtime::Executor executor(
      std::move(*program),
      how == "run" ? runtime::make_cpu_run() : std::make_unique<LaunchingRun>(how == "refuse"));
  using Batches = std::vector<runtime::NamedTensors>;
  const auto batches_of_step = [] {
    return Batches{{{"x", at::randn({3, 4})}}, {{"x", at::randn({3, 4})}}};
  };
  const auto named = [](const runtime::NamedTensors& tensors) {
    std::string text;
    for (const auto& [name, value] : tensors) text += " " + name + " " + bits(value);
    return text;
  };
  if (how == "ahead") {
    int launched = 0;
    for (int step = 0; step < 12; ++step) {
      while (launched < 12 && launched - step <= executor.ahead()) {
        executor.launch(batches_of_step(), {}, nullptr);
        ++launched;
      }
      fmt::print("{}:{}, {} ahead\n", step, named(executor.finish()), launched - step - 1);
    }
    fmt::print("{}\n", named(states));
    return;
  }
  for (int step = 0; step < 12; ++step) {
    const Batches batches = batches_of_step();
    runtime::Timeline timeline;
    const bool timed = step % 3 == 2;
    std::string line =
        fmt::format("{}:{}", step, named(executor.run(batches, {}, timed ? &timeline : nullptr)));
    line += "," + named(states);
    size_t computed = 0, communicated = 0;
    for (const telemetry::Span& span : timeline.take()) {
      computed += span.stream == 0;
      communicated += span.stream == 1;
    }
    fmt::print("{} {} operators {} collectives timed, {} collectives run\n", line, computed,
               communicated, executor.collectives());
    if (step == 5) executor.first_non_finite(batches, {});  // runs a step in between
  }
  for (const std::string& warning : executor.take_warnings()) fmt::print("warning: {}\n", warning);
}

}  // namespace

int main(int, char** argv) {
  try {
    run(argv[1], argv[2], std::stoi(argv[3]));
  } catch (const std::exception& error) {
    std::cerr << heddle::graph::error_text(error) << std::endl;
    return 1;
  }
  heddle::runtime::close_process_groups();
  return 0;
}
