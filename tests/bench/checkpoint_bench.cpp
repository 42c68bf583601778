// Saving and loading by the code that training uses: how fast a rank copies, writes and reads, and
// how much memory it takes beyond the model. How long training stopped is in the log of any run.
//
//   checkpoint_bench --folder DIR [--times 5]
//       one rank of a model with 1.2 GB of states, in turn with dd of as many bytes
//   checkpoint_bench --folder DIR --shape llama3-8b --ranks 4
//       weights alone; each rank a process of its own, one after the other, so that they fit.
//       While saving, the model is pages of zeros that were never touched.
#include <ATen/ops/from_blob.h>
#include <ATen/ops/rand.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <filesystem>
#include <fstream>

#include "base/clock.h"
#include "base/durable_file.h"
#include "base/resident_memory.h"
#include "engine/checkpoint/step_folders.h"
#include "engine/holdings/states.h"
#include "engine/recipe/presets.h"
#include "engine/step/staging.h"

namespace {

using namespace heddle;
namespace fs = std::filesystem;

template <typename T>
T must(Result<T> result) {
  if (!result) {
    fmt::print(stderr, "{}\n", result.error().message);
    std::exit(1);
  }
  if constexpr (!std::is_void_v<T>) return std::move(*result);
}

double median(std::vector<double> values) {
  std::ranges::nth_element(values, values.begin() + static_cast<long>(values.size() / 2));
  return values[values.size() / 2];
}

/// Memory that is the system's page of zeros until it is written.
at::Tensor untouched(const std::vector<int64_t>& sizes) {
  int64_t numbers = 1;
  for (const int64_t size : sizes) numbers *= size;
  const size_t bytes = static_cast<size_t>(std::max<int64_t>(numbers, 1)) * sizeof(float);
  void* memory = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  ::madvise(memory, bytes, MADV_NOHUGEPAGE);
  return at::from_blob(memory, sizes, at::TensorOptions(at::kFloat));
}

template <typename Make>
runtime::NamedTensors states_of(const recipe::Recipe& recipe, int64_t rank, bool moments,
                                const Make& make) {
  runtime::NamedTensors states;
  for (const holdings::State& state : holdings::states_of(recipe, recipe::Layout(recipe), rank)) {
    const bool moment = state.role == holdings::Role::optimizer;
    if (state.role == holdings::Role::parameter || (moments && moment))
      states[state.name] = make(state.shape);
  }
  return states;
}

recipe::Recipe recipe_of(const recipe::Model& model, int64_t ranks) {
  recipe::Recipe recipe;
  recipe.model = model;
  recipe.parallelism.dp_shard = ranks;
  return recipe;
}

double dd(const std::string& arguments) {
  const auto begin = Clock::now();
  if (std::system(("dd bs=4M 2>/dev/null " + arguments).c_str()) != 0) std::exit(1);
  return seconds_since(begin);
}

/// Makes later reads come from the disk.
void forget_pages(const std::string& folder) {
  for (const auto& entry : fs::directory_iterator(folder)) {
    const int file = ::open(entry.path().c_str(), O_RDONLY);
    ::posix_fadvise(file, 0, 0, POSIX_FADV_DONTNEED);
    ::close(file);
  }
}

void print_row(const char* what, const std::vector<double>& seconds, int64_t bytes) {
  fmt::print("{:28} {:8.1f} ms {:8.2f} GB/s\n", what, median(seconds) * 1e3,
             static_cast<double>(bytes) / median(seconds) / 1e9);
}

int speeds(const std::string& folder, int times) {
  recipe::Model model = *recipe::preset("llama3-debug");
  model.dim = 1024;
  model.n_kv_heads = model.n_heads;
  model.ffn_dim = 2816;
  model.vocab_size = 12000;
  const recipe::Recipe recipe = recipe_of(model, 1);
  const auto states =
      states_of(recipe, 0, true, [](const std::vector<int64_t>& sizes) { return at::rand(sizes); });
  step::Staging staging(recipe, 0, states, c10::kCPU);
  checkpoint::Manifest manifest;
  manifest.recipe = recipe;
  std::vector<double> copies, writes, reads, plain_writes, plain_reads;
  const std::string path = folder + "/step-1", plain = folder + "/plain";
  for (int i = 0; i < times; ++i) {
    auto begin = Clock::now();
    staging.take();
    copies.push_back(seconds_since(begin));
    begin = Clock::now();
    const std::string partial = must(checkpoint::begin_checkpoint(path));
    manifest.contents = must(staging.write(partial));
    must(checkpoint::commit_checkpoint(partial, path, manifest));
    writes.push_back(seconds_since(begin));
    const std::string file = path + "/rank-0.safetensors";
    plain_writes.push_back(dd(fmt::format("if={} of={} conv=fsync", file, plain)));

    forget_pages(path);
    begin = Clock::now();
    const auto source = must(checkpoint::Checkpoint::open(path));
    must(step::load_checkpoint(source, recipe, 0, states));
    reads.push_back(seconds_since(begin));
    forget_pages(path);
    plain_reads.push_back(dd(fmt::format("if={} of=/dev/null", file)));
    fs::remove_all(path);
    fs::remove(plain);
  }
  const int64_t bytes = staging.bytes();
  fmt::print("{:.0f} MB of one rank, median of {}\n", static_cast<double>(bytes) / 1e6, times);
  print_row("copy, beside the next step", copies, bytes);
  print_row("write, hashed and durable", writes, bytes);
  print_row("dd conv=fsync", plain_writes, bytes);
  print_row("load, verified", reads, bytes);
  print_row("dd to /dev/null", plain_reads, bytes);
  fmt::print("write {:.2f} and read {:.2f} of dd's speed\n", median(plain_writes) / median(writes),
             median(plain_reads) / median(reads));
  return 0;
}

/// A process of its own, so that its peak is its own.
template <typename Work>
void in_process(const Work& work) {
  const pid_t child = ::fork();
  if (child == 0) {
    work();
    std::fflush(stdout);
    std::_Exit(0);
  }
  int status = 0;
  if (::waitpid(child, &status, 0) != child || status != 0) std::exit(1);
}

int memory(const std::string& folder, const std::string& shape, int64_t ranks) {
  recipe::Model model = *recipe::preset(shape);
  if (model.n_kv_heads == 0) model.n_kv_heads = model.n_heads;
  const recipe::Recipe recipe = recipe_of(model, ranks);
  const std::string path = folder + "/step-1";
  const std::string partial = must(checkpoint::begin_checkpoint(path));
  const auto tell = [&](const char* what, int64_t rank, int64_t before, int64_t shard,
                        double seconds) {
    const int64_t above = peak_resident_bytes() - before;
    fmt::print(
        "{} rank {}: {:.2f} GB in {:.0f} s, peak above the model {:.2f} GB = {:.2f} shards\n", what,
        rank, static_cast<double>(shard) / 1e9, seconds, static_cast<double>(above) / 1e9,
        static_cast<double>(above) / static_cast<double>(shard));
  };
  for (int64_t rank = 0; rank < ranks; ++rank)
    in_process([&] {
      const auto states = states_of(recipe, rank, false, untouched);
      const int64_t before = peak_resident_bytes();
      const auto begin = Clock::now();
      step::Staging staging(recipe, rank, states, c10::kCPU);
      staging.take();
      const auto contents = must(staging.write(partial));
      must(write_atomically(fmt::format("{}/{}.json", partial, rank), checkpoint::to_text(contents),
                            kReadable));
      tell("save", rank, before, staging.bytes(), seconds_since(begin));
    });
  checkpoint::Manifest manifest;
  manifest.recipe = recipe;
  for (int64_t rank = 0; rank < ranks; ++rank) {
    std::ifstream file(fmt::format("{}/{}.json", partial, rank));
    manifest.contents.add(
        must(checkpoint::parse_contents(std::string{std::istreambuf_iterator<char>(file), {}})));
  }
  must(checkpoint::commit_checkpoint(partial, path, manifest));
  forget_pages(path);
  for (int64_t rank = 0; rank < ranks; ++rank)
    in_process([&] {
      const auto states = states_of(recipe, rank, false, untouched);
      int64_t shard = 0;
      for (const auto& [name, state] : states) {
        const_cast<at::Tensor&>(state).fill_(1);
        shard += static_cast<int64_t>(state.nbytes());
      }
      const int64_t before = peak_resident_bytes();
      const auto begin = Clock::now();
      const auto source = must(checkpoint::Checkpoint::open(path));
      must(step::load_checkpoint(source, recipe, rank, states));
      tell("load", rank, before, shard, seconds_since(begin));
    });
  fs::remove_all(path);
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app("checkpoints: speed and memory");
  std::string folder, shape;
  int times = 5;
  int64_t ranks = 4;
  app.add_option("--folder", folder, "on the disk to be measured")->required();
  app.add_option("--times", times);
  app.add_option("--shape", shape, "a preset: memory instead of speed");
  app.add_option("--ranks", ranks);
  CLI11_PARSE(app, argc, argv);
  fs::create_directories(folder);
  return shape.empty() ? speeds(folder, times) : memory(folder, shape, ranks);
}
