// One rank: meets the others through a store and does its jobs one after the other, each in a group
// of its own; prints what it got. An error goes to stderr, exit code 1.
#include <ATen/ATen.h>
#include <ATen/Parallel.h>
#include <fmt/format.h>
#include <signal.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <array>
#include <cstring>
#include <iostream>
#include <torch/csrc/distributed/c10d/FileStore.hpp>
#include <torch/csrc/distributed/c10d/PrefixStore.hpp>

#include "engine/graph/error_text.h"
#include "engine/runtime/process_groups.h"
#include "engine/transport/host_backend.h"
#include "engine/transport/rendezvous_store.h"

namespace {

using at::Tensor;
using heddle::transport::HostBackend;
using Tensors = std::vector<Tensor>;

struct Arguments {
  std::vector<std::string> jobs;
  std::string store, secret;
  bool encrypt = false;
  int rank = 0, size = 1;
  uint64_t seed = 0;
  int timeout_ms = 60000;
  heddle::transport::GroupOptions options;
};

void require(bool ok, const std::string& what) {
  if (!ok) throw std::runtime_error("wrong: " + what);
}

bool same_bits(const Tensor& a, const Tensor& b) {
  return a.scalar_type() == b.scalar_type() && a.numel() == b.numel() &&
         (a.numel() == 0 || std::memcmp(a.data_ptr(), b.data_ptr(), a.nbytes()) == 0);
}

// A rank's input of a collective: the same on whichever rank it is made. Numbers are of eight
// magnitudes, so that sums depend on their order; at::randn would take longer than the collectives.
Tensor brought(uint64_t seed, int rank, int64_t elements, at::ScalarType type) {
  constexpr std::array kMagnitudes = {1e-4, 1e-3, 1e-2, 1e-1, 1e0, 1e1, 1e2, 1e3};
  uint64_t state = (seed * 1000 + static_cast<uint64_t>(rank)) << 32;
  const auto next = [&state] {  // SplitMix64
    uint64_t bits = state += 0x9e3779b97f4a7c15;
    bits = (bits ^ (bits >> 30)) * 0xbf58476d1ce4e5b9;
    bits = (bits ^ (bits >> 27)) * 0x94d049bb133111eb;
    return bits ^ (bits >> 31);
  };
  Tensor result = at::empty({elements}, type == at::kLong ? at::kLong : at::kDouble);
  if (type == at::kLong) {
    auto* numbers = result.mutable_data_ptr<int64_t>();
    for (int64_t i = 0; i < elements; ++i)
      numbers[i] = static_cast<int64_t>(next() % 2000000) - 1000000;
    return result;
  }
  auto* numbers = result.mutable_data_ptr<double>();
  for (int64_t i = 0; i < elements; ++i) {
    const uint64_t bits = next();
    numbers[i] = static_cast<double>(static_cast<int64_t>(bits)) * 0x1p-63 * kMagnitudes[bits % 8];
  }
  return result.to(type);
}

// The plain sum in rank order, or the maximum.
Tensor reduced(uint64_t seed, int size, int64_t elements, at::ScalarType type, bool max = false) {
  const bool wide = type == at::kBFloat16;
  Tensor result;
  for (int rank = 0; rank < size; ++rank) {
    Tensor next = brought(seed, rank, elements, type);
    if (wide) next = next.to(at::kFloat);
    result = !result.defined() ? next : max ? at::maximum(result, next) : result + next;
  }
  return wide ? result.to(at::kBFloat16) : result;
}

const std::vector<at::ScalarType> kTypes = {at::kFloat, at::kBFloat16, at::kDouble, at::kLong};

// Sizes of shards: empty, odd, small, and some that span chunks.
std::vector<int64_t> sizes_of(uint64_t seed, int count) {
  auto generator = at::detail::createCPUGenerator(seed);
  std::vector<int64_t> sizes = {0, 1, 7};
  for (int i = 0; i < count; ++i) {
    const int64_t scale = std::array<int64_t, 4>{3, 100, 5000, 300000}[i % 4];
    sizes.push_back(at::randint(0, scale, {1}, generator, at::kLong).item<int64_t>());
  }
  return sizes;
}

void gathers(HostBackend& group, const Arguments& a, at::ScalarType type) {
  Tensors shards, fulls;
  uint64_t seed = a.seed;
  const auto sizes = sizes_of(a.seed, 9);
  for (const int64_t elements : sizes) {
    shards.push_back(brought(++seed, a.rank, elements, type));
    fulls.push_back(at::empty({elements * a.size}, type));
  }
  group.allgather_into_tensor_coalesced(fulls, shards)->wait();
  seed = a.seed;
  for (size_t i = 0; i < sizes.size(); ++i) {
    ++seed;
    for (int rank = 0; rank < a.size; ++rank)
      require(same_bits(fulls[i].narrow(0, rank * sizes[i], sizes[i]),
                        brought(seed, rank, sizes[i], type)),
              fmt::format("gathered range {} of rank {}", i, rank));
  }
}

void scatters(HostBackend& group, const Arguments& a, at::ScalarType type) {
  Tensors shards, fulls;
  uint64_t seed = a.seed;
  const auto sizes = sizes_of(a.seed, 9);
  for (const int64_t elements : sizes) {
    fulls.push_back(brought(++seed, a.rank, elements * a.size, type));
    shards.push_back(at::empty({elements}, type));
  }
  group.reduce_scatter_tensor_coalesced(shards, fulls)->wait();
  seed = a.seed;
  for (size_t i = 0; i < sizes.size(); ++i) {
    const Tensor sum = reduced(++seed, a.size, sizes[i] * a.size, type);
    require(same_bits(shards[i], sum.narrow(0, a.rank * sizes[i], sizes[i])),
            fmt::format("reduced range {}", i));
  }
}

void all_reduces(HostBackend& group, const Arguments& a, at::ScalarType type) {
  for (const bool max : {false, true})
    for (const int64_t elements : {0, 1, 5, 511, 1025, 9999, 400001}) {
      Tensors tensors{brought(a.seed, a.rank, elements, type)};
      c10d::AllreduceOptions options;
      options.reduceOp = max ? c10d::ReduceOp::MAX : c10d::ReduceOp::SUM;
      group.allreduce(tensors, options)->wait();
      require(same_bits(tensors[0], reduced(a.seed, a.size, elements, type, max)),
              fmt::format("all-reduced {} elements", elements));
    }
}

// Rank r sends r + p + 1 rows to rank p.
void all_to_alls(HostBackend& group, const Arguments& a) {
  std::vector<int64_t> out, in;
  for (int p = 0; p < a.size; ++p) {
    in.push_back(a.rank + p + 1);
    out.push_back(p + a.rank + 1);
  }
  const auto rows = [](const std::vector<int64_t>& splits) {
    int64_t sum = 0;
    for (const int64_t split : splits) sum += split;
    return sum;
  };
  Tensor input = at::full({rows(in), 3}, a.rank, at::kFloat);
  Tensor output = at::empty({rows(out), 3}, at::kFloat);
  group.alltoall_base(output, input, out, in)->wait();
  int64_t row = 0;
  for (int p = 0; p < a.size; ++p)
    for (int64_t i = 0; i < out[p]; ++i)
      require(output[row++].eq(p).all().item<bool>(), "all-to-all");
  std::vector<int64_t> even;
  Tensor sent = at::arange(2 * a.size, at::kLong) + 100 * a.rank;
  Tensor got = at::empty_like(sent);
  group.alltoall_base(got, sent, even, even)->wait();
  for (int p = 0; p < a.size; ++p)
    require(got[2 * p].item<int64_t>() == 100 * p + 2 * a.rank, "even all-to-all");
}

void values(HostBackend& group, const Arguments& a) {
  for (const at::ScalarType type : kTypes) {
    gathers(group, a, type);
    scatters(group, a, type);
    all_reduces(group, a, type);
  }
  all_to_alls(group, a);
  group.barrier()->wait();
  std::cout << "right over " << group.transport() << std::endl;
}

// Twelve ranges reduced in `buckets` collectives, all under way at once.
void buckets(HostBackend& group, const Arguments& a) {
  constexpr int kRanges = 12;
  for (const int count : {1, 3, 5, 12}) {
    Tensors all;
    std::vector<std::pair<Tensors, Tensors>> bucket(count);
    for (int i = 0; i < kRanges; ++i) {
      const int64_t elements = 1 + 3001 * i;
      auto& [shards, fulls] = bucket[i * count / kRanges];
      fulls.push_back(brought(a.seed + i, a.rank, elements * a.size, at::kFloat));
      shards.push_back(at::empty({elements}));
      all.push_back(shards.back());
    }
    std::vector<c10::intrusive_ptr<c10d::Work>> works;
    for (auto& [shards, fulls] : bucket)
      works.push_back(group.reduce_scatter_tensor_coalesced(shards, fulls));
    for (const auto& work : works) work->wait();
    uint64_t hash = 0xcbf29ce484222325;
    const Tensor joined = at::cat(all);
    for (int64_t i = 0; i < joined.numel(); ++i) {
      uint32_t bits = 0;
      std::memcpy(&bits, joined.data_ptr<float>() + i, 4);
      hash = (hash ^ bits) * 0x100000001b3;
    }
    std::cout << fmt::format("{:016x}", hash) << std::endl;
  }
}

// More collectives under way than a control page has slots; each knows when it ran.
void many(HostBackend& group, const Arguments& a) {
  constexpr int kCount = 1000;
  std::vector<Tensors> tensors;
  std::vector<c10::intrusive_ptr<c10d::Work>> works;
  int called = 0;
  for (int i = 0; i < kCount; ++i) {
    tensors.push_back({at::full({3}, a.rank + i, at::kFloat)});
    works.push_back(group.allreduce(tensors.back()));
    works.back()->getFuture()->addCallback([&](c10::ivalue::Future&) { ++called; });
  }
  using heddle::transport::TimedWork;
  TimedWork::Clock::time_point before;
  for (int i = 0; i < kCount; ++i) {
    works[i]->wait();
    require(tensors[i][0][0].item<float>() == a.size * i + a.size * (a.size - 1) / 2, "sum");
    const auto& timed = dynamic_cast<TimedWork&>(*works[i]);
    require(before <= timed.began() && timed.began() <= timed.ended(), "times");
    before = timed.ended();
  }
  require(called == kCount, "callbacks");
}

std::string error_of(const c10::intrusive_ptr<c10d::Work>& work) {
  try {
    work->wait();
  } catch (const std::exception& error) {
    return heddle::graph::error_text(error);
  }
  return {};
}

// A collective's error, and the next one's, which must come at once and be the same.
void expect_error(HostBackend& group, const c10::intrusive_ptr<c10d::Work>& work) {
  const std::string first = error_of(work), second = error_of(group.barrier());
  require(!first.empty() && first == second, "later: " + second);
  std::cout << first << std::endl;
}

void disagree(HostBackend& group, const Arguments& a, const std::string& about) {
  const bool odd = a.rank == 1;
  Tensors shards{at::ones({odd && about == "bytes" ? 8 : 4})};
  Tensors fulls{at::ones({shards[0].numel() * a.size})};
  if (odd && about == "ranges") {
    shards.push_back(at::ones({4}));
    fulls.push_back(at::ones({4 * a.size}));
  }
  group.barrier()->wait();
  heddle::transport::label_next_collective(odd && about == "label" ? "layers.4" : "layers.3");
  expect_error(group, odd && about == "kind"
                          ? group.reduce_scatter_tensor_coalesced(shards, fulls)
                          : group.allgather_into_tensor_coalesced(fulls, shards));
}

// Rank 1 sends rank 0 two rows where it expects one. Ranks that have all they need may go on until
// the next collective.
void splits(HostBackend& group, const Arguments& a) {
  group.barrier()->wait();
  std::vector<int64_t> in(a.size, 1), out(a.size, 1);
  if (a.rank == 1) in[0] = 2;
  Tensor input = at::ones({a.size + (a.rank == 1 ? 1 : 0), 3});
  Tensor output = at::empty({a.size, 3});
  heddle::transport::label_next_collective("rows");
  const auto work = group.alltoall_base(output, input, out, in);
  error_of(work);
  std::cout << error_of(group.barrier()) << std::endl;
}

void die(HostBackend& group, const Arguments& a) {
  group.barrier()->wait();
  if (a.rank == 1) raise(SIGKILL);
  Tensors tensors{at::ones({100000})};
  heddle::transport::label_next_collective("norm");
  expect_error(group, group.allreduce(tensors));
}

// Weights and a key of the store that can be looked for on the wire.
void canary(HostBackend& group, const Arguments& a) {
  Tensors shards{at::full({200000}, 1234.5678f)};
  Tensors fulls{at::empty({200000 * a.size})};
  group.allgather_into_tensor_coalesced(fulls, shards)->wait();
  require(fulls[0].eq(1234.5678f).all().item<bool>(), "gathered");
  group.barrier()->wait();
  std::cout << "gathered over " << group.transport() << std::endl;
}

void lag(HostBackend& group, const Arguments& a) {
  heddle::transport::label_next_collective("warm-up");
  group.barrier()->wait();
  if (a.rank == 1) {
    std::cin.get();  // until the test has seen the others' errors
    return;
  }
  Tensors tensors{at::ones({100000})};
  heddle::transport::label_next_collective("layers.7");
  expect_error(group, group.allreduce(tensors));
}

// A mesh of 2 x size/2: sums of ranks along each of its dimensions.
void mesh(const Arguments& a) {
  heddle::runs::RankContext context;
  context.run_dir = a.store;
  context.rank = a.rank;
  context.launch.world_size = context.launch.local_ranks = a.size;
  const int64_t shard = a.size / 2;
  using namespace heddle::recipe;
  Recipe recipe;
  recipe.parallelism.dp_replicate = 2;
  recipe.parallelism.dp_shard = shard;
  const Layout layout(recipe);
  const Mesh& mesh = layout.mesh();
  const auto met = heddle::runtime::init_process_groups(context, layout, at::kCPU);
  require(met.has_value(), met ? "" : met.error().message);
  std::string line;
  for (const Dims dims : {kSharing, kReplicate, kTokens}) {
    const std::string name = mesh.name(dims);
    if (name.empty()) continue;
    Tensors tensors{at::full({1}, 1 << a.rank, at::kLong)};
    heddle::runtime::process_group(name).allreduce(tensors)->wait();
    line += fmt::format("{} {:b} ", name, tensors[0].item<int64_t>());
  }
  std::cout << line << heddle::runtime::transport_name(heddle::runtime::world_group()) << std::endl;
  heddle::runtime::close_process_groups();
}

template <typename T>
T must(heddle::Result<T> result) {
  require(result.has_value(), result ? "" : result.error().message);
  return std::move(*result);
}

c10::intrusive_ptr<c10d::Store> open_store(const Arguments& a) {
  const size_t colon = a.store.find(':');
  if (colon == std::string::npos) return c10::make_intrusive<c10d::FileStore>(a.store, a.size);
  const std::string host = a.store.substr(0, colon);
  const auto port = static_cast<uint16_t>(std::stoi(a.store.substr(colon + 1)));
  using heddle::transport::RendezvousStore;
  if (a.rank > 0)
    return must(
        RendezvousStore::join(host, port, *a.options.credentials, a.rank, a.options.timeout));
  return must(RendezvousStore::host(must(heddle::listen_on(host, port)), *a.options.credentials,
                                    a.size, a.options.timeout));
}

void run(const Arguments& a) {
  if (a.jobs.front() == "mesh") return mesh(a);
  const auto store = open_store(a);
  for (const std::string& job : a.jobs) {
    HostBackend group(c10::make_intrusive<c10d::PrefixStore>(job, store), a.rank, a.size,
                      a.options);
    if (!group.warning().empty()) std::cerr << group.warning() << std::endl;
    if (job == "values")
      values(group, a);
    else if (job == "buckets")
      buckets(group, a);
    else if (job == "many")
      many(group, a);
    else if (job == "splits")
      splits(group, a);
    else if (job == "die")
      die(group, a);
    else if (job == "canary")
      canary(group, a);
    else if (job == "lag")
      lag(group, a);
    else
      disagree(group, a, job);
  }
}

}  // namespace

int main(int argc, char** argv) {
  Arguments a;
  CLI::App app("one rank");
  app.add_option("jobs", a.jobs)->required();
  app.add_option("--store", a.store, "file, host:port, or for mesh the run directory")->required();
  app.add_option("--secret", a.secret, "a file with what the ranks know each other by");
  app.add_flag("--encrypt", a.encrypt, "between hosts");
  app.add_option("--rank", a.rank)->required();
  app.add_option("--size", a.size)->required();
  app.add_option("--seed", a.seed);
  app.add_option("--timeout", a.timeout_ms, "milliseconds");
  app.add_option("--host", a.options.host);
  app.add_option("--address", a.options.address);
  app.add_flag("!--no-memory", a.options.memory);
  CLI11_PARSE(app, argc, argv);
  a.options.timeout = std::chrono::milliseconds(a.timeout_ms);
  a.options.group = "test";
  at::set_num_threads(1);
  try {
    if (!a.secret.empty())
      a.options.credentials = {must(heddle::read_secret(a.secret)), "transport_test", a.encrypt};
    run(a);
  } catch (const std::exception& error) {
    std::cerr << heddle::graph::error_text(error) << std::endl;
    return 1;
  }
  return 0;
}
