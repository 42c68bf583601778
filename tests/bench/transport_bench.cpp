// Heddle's CPU transport against Gloo's own collectives, alternately in one run, on the ranks of
// this machine: milliseconds (median, spread) and CPU seconds of all ranks, by size.
//   transport_bench [--ranks 2] [--rounds 9] [--encrypt]
// With --encrypt: TCP on loopback in clear against the same encrypted.
#include <ATen/ATen.h>
#include <ATen/Parallel.h>
#include <fmt/format.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <filesystem>
#include <functional>
#include <torch/csrc/distributed/c10d/FileStore.hpp>
#include <torch/csrc/distributed/c10d/PrefixStore.hpp>
#include <torch/csrc/distributed/c10d/ProcessGroupGloo.hpp>

#include "engine/transport/host_backend.h"

namespace {

using Clock = std::chrono::steady_clock;
using Tensors = std::vector<at::Tensor>;

double cpu_seconds() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  const auto seconds = [](const timeval& t) {
    return static_cast<double>(t.tv_sec) + 1e-6 * t.tv_usec;
  };
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

struct Sample {
  double milliseconds, cpu_milliseconds;
};

Sample measure(c10d::Backend& group, const std::function<void(c10d::Backend&)>& collective) {
  group.barrier()->wait();
  const double cpu = cpu_seconds();
  const auto begin = Clock::now();
  collective(group);
  const double ms = std::chrono::duration<double, std::milli>(Clock::now() - begin).count();
  return {ms, (cpu_seconds() - cpu) * 1e3};
}

double quantile(std::vector<double> values, double q) {
  std::sort(values.begin(), values.end());
  return values[static_cast<size_t>(q * static_cast<double>(values.size() - 1) + 0.5)];
}

void compare(const std::string& name, int64_t bytes, c10d::Backend& ours, c10d::Backend& theirs,
             const std::function<void(c10d::Backend&)>& collective, int rounds) {
  std::vector<double> own, own_cpu, other, other_cpu, ratio;
  for (int round = 0; round <= rounds; ++round) {
    const Sample a = measure(ours, collective), b = measure(theirs, collective);
    if (round == 0) continue;  // touches the memory
    own.push_back(a.milliseconds);
    own_cpu.push_back(a.cpu_milliseconds);
    other.push_back(b.milliseconds);
    other_cpu.push_back(b.cpu_milliseconds);
    ratio.push_back(b.milliseconds / a.milliseconds);
  }
  if (ours.getRank() != 0) return;
  fmt::print("{:<15}{:>11}{:>10.2f}{:>10.2f}{:>10.2f}{:>10.2f}{:>9.1f} ({:.1f} to {:.1f})\n", name,
             bytes, quantile(own, 0.5), quantile(other, 0.5), quantile(own_cpu, 0.5),
             quantile(other_cpu, 0.5), quantile(ratio, 0.5), quantile(ratio, 0.0),
             quantile(ratio, 1.0));
  std::fflush(stdout);
}

using Group = std::unique_ptr<c10d::Backend>;
using Store = c10::intrusive_ptr<c10d::Store>;

Group heddle_group(const Store& store, int rank, int size, const char* name,
                   heddle::transport::GroupOptions options = {}) {
  return std::make_unique<heddle::transport::HostBackend>(
      c10::make_intrusive<c10d::PrefixStore>(name, store), rank, size, std::move(options));
}

heddle::transport::GroupOptions over_tcp(bool encrypt) {
  heddle::transport::GroupOptions options;
  options.memory = false;
  options.credentials = {*heddle::Secret::from_hex(std::string(64, 'b')), "bench", encrypt};
  return options;
}

Group gloo_group(const Store& store, int rank, int size) {
  auto options = c10d::ProcessGroupGloo::Options::create();
  options->devices.push_back(c10d::ProcessGroupGloo::createDeviceForHostname("127.0.0.1"));
  return std::make_unique<c10d::ProcessGroupGloo>(
      c10::make_intrusive<c10d::PrefixStore>("gloo", store), rank, size, options);
}

void run(int rank, int size, int rounds, bool encrypt, const std::string& folder) {
  auto store = c10::make_intrusive<c10d::FileStore>(folder + "/store", size);
  const Group one = encrypt ? heddle_group(store, rank, size, "clear", over_tcp(false))
                            : heddle_group(store, rank, size, "heddle");
  const Group two = encrypt ? heddle_group(store, rank, size, "sealed", over_tcp(true))
                            : gloo_group(store, rank, size);
  c10d::Backend &ours = *one, &other = *two;
  const std::string a = encrypt ? "clear" : "heddle", b = encrypt ? "sealed" : "gloo";
  if (rank == 0)
    fmt::print(
        "{} ranks, {} rounds; ms: median; cpu: of rank 0; ratio: {} / {}, median (range)\n"
        "{:<15}{:>11}{:>10}{:>10}{:>10}{:>11}{:>9}\n",
        size, rounds, b, a, "collective", "full bytes", a, b, "cpu", "cpu " + b, "ratio");
  for (const int64_t bytes : {4096, 65536, 1 << 20, 8 << 20, 59'000'000, 236'000'000}) {
    const int64_t shard = bytes / 4 / size;
    Tensors fulls{at::ones({shard * size})}, shards{at::ones({shard})};
    compare(
        "all-gather", bytes, ours, other,
        [&](c10d::Backend& group) { group._allgather_base(fulls[0], shards[0])->wait(); }, rounds);
    compare(
        "reduce-scatter", bytes, ours, other,
        [&](c10d::Backend& group) { group._reduce_scatter_base(shards[0], fulls[0])->wait(); },
        rounds);
    compare(
        "all-reduce", bytes, ours, other,
        [&](c10d::Backend& group) {
          Tensors tensors{fulls[0]};
          group.allreduce(tensors)->wait();
        },
        rounds);
    fulls[0].fill_(1);
  }
  ours.barrier()->wait();
}

}  // namespace

int main(int argc, char** argv) {
  int ranks = 2, rounds = 9, rank = -1;
  bool encrypt = false;
  std::string folder;
  CLI::App app("Heddle's CPU transport against Gloo");
  app.add_flag("--encrypt", encrypt, "TCP in clear against TCP encrypted instead");
  app.add_option("--ranks", ranks);
  app.add_option("--rounds", rounds);
  app.add_option("--rank", rank, "set by the program itself");
  app.add_option("--folder", folder, "set by the program itself");
  CLI11_PARSE(app, argc, argv);
  if (rank >= 0) {
    at::set_num_threads(1);
    run(rank, ranks, rounds, encrypt, folder);
    return 0;
  }
  char name[] = "/tmp/transport-bench-XXXXXX";
  folder = mkdtemp(name);
  // autograd's threads do not survive a fork: each rank is this program again.
  for (int i = 0; i < ranks; ++i)
    if (fork() == 0) {
      const std::string words[] = {std::to_string(ranks), std::to_string(rounds),
                                   std::to_string(i)};
      execl("/proc/self/exe", argv[0], "--ranks", words[0].c_str(), "--rounds", words[1].c_str(),
            "--rank", words[2].c_str(), "--folder", folder.c_str(), encrypt ? "--encrypt" : nullptr,
            nullptr);
      _exit(127);
    }
  int failed = 0;
  for (int i = 0, status = 0; i < ranks; ++i)
    if (wait(&status) > 0 && status != 0) failed = 1;
  std::filesystem::remove_all(folder);
  return failed;
}
