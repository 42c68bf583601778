// Files to and from a host next to scp, alternately, at 0 and 40 ms of round trip, by a real sshd
// behind a line that takes its time: `transfer_bench [MIB] [REPEATS]`. Both connect each time;
// Heddle's upload is hashed there as well. Needs root.
#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "base/process.h"
#include "remote/connect.h"
#include "remote/sha256.h"
#include "tests/support/slow_link.h"
#include "tests/support/sshd.h"

using namespace heddle;

namespace {

[[noreturn]] void stop(const std::string& why) {
  fmt::print(stderr, "transfer_bench: {}\n", why);
  std::exit(1);
}

template <typename Work>
double seconds_of(Work work) {
  const auto begun = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begun).count();
}

struct Rates {
  std::vector<double> all = {};
  double median() {
    std::sort(all.begin(), all.end());
    return all[all.size() / 2];
  }
};

class Bench {
 public:
  Bench(const test::Sshd& sshd, uint16_t port, std::string file, std::string folder)
      : sshd_(sshd),
        target_(sshd.trusted_target()),
        file_(std::move(file)),
        folder_(std::move(folder)),
        hash_(remote::sha256_of_file(file_).value()) {
    target_.hosts[0].port = port;
    target_.accepted_keys[0].endpoint = fmt::format("127.0.0.1:{}", port);
  }

  void scp(const std::string& from, const std::string& to) const {
    const process::Command command{
        .argv = {"scp", "-q", "-F", "none", "-i", sshd_.user_home() + "/.ssh/id_ed25519", "-o",
                 "StrictHostKeyChecking=no", "-o", "UserKnownHostsFile=/dev/null", "-P",
                 std::to_string(target_.hosts[0].port), from, to},
        .deadline = std::chrono::minutes(10)};
    const auto done = process::run(command);
    if (!done || done->exit_code != 0) stop("scp: " + (done ? done->err : done.error().message));
  }
  void scp_up() const { scp(file_, "root@127.0.0.1:by_scp"); }
  void scp_down() const { scp("root@127.0.0.1:by_scp", folder_ + "/back"); }

  void up() const {
    const auto node = connected();
    const auto put = node->put_file({file_, "/tmp/by_heddle", hash_, 0600}, {});
    if (!put) stop(put.error().message);
  }
  /// So that the next upload sends it again.
  void forget() const { (void)connected()->remove("/tmp/by_heddle"); }
  void down() const {
    const auto node = connected();
    std::ofstream back(folder_ + "/back2", std::ios::binary);
    const uint64_t size = std::filesystem::file_size(file_);
    for (uint64_t at = 0; at < size;) {
      const auto piece = node->read("/tmp/by_heddle", at);
      if (!piece) stop(piece.error().message);
      back << *piece;
      at += piece->size();
    }
  }

 private:
  std::unique_ptr<remote::Node> connected() const {
    auto node = remote::connect(target_, target_.hosts[0], sshd_.connect_options());
    if (!node) stop(node.error().message);
    return std::move(*node);
  }

  const test::Sshd& sshd_;
  remote::Target target_;
  const std::string file_, folder_, hash_;
};

}  // namespace

int main(int argc, char** argv) {
  const size_t mib = argc > 1 ? std::stoul(argv[1]) : 256;
  const int repeats = argc > 2 ? std::atoi(argv[2]) : 3;
  if (const std::string missing = test::Sshd::missing(); !missing.empty()) stop(missing);
  auto sshd = test::Sshd::start({.config = "Subsystem sftp internal-sftp\n"});  // scp's
  if (!sshd) stop(sshd.error().message);
  std::string folder = (std::filesystem::temp_directory_path() / "transfer-XXXXXX").string();
  if (!mkdtemp(folder.data())) stop("no folder " + folder);
  const std::string file = folder + "/file";
  {
    std::string bytes(mib << 20, '\0');
    uint64_t state = 3;
    for (char& byte : bytes) {
      state = state * 6364136223846793005u + 1442695040888963407u;
      byte = static_cast<char>(state >> 56);
    }
    std::ofstream(file, std::ios::binary) << bytes;
  }
  const double mb = static_cast<double>(mib << 20) / 1e6;
  fmt::print("{} MiB, medians of {}: MB/s\n", mib, repeats);
  fmt::print("{:>10} {:>10} {:>10} {:>7} {:>10} {:>10} {:>7}\n", "trip", "scp up", "Heddle", "",
             "scp down", "Heddle", "");
  for (const int trip_ms : {0, 40}) {
    test::SlowLink link((*sshd)->port(), std::chrono::microseconds(trip_ms * 500));
    const Bench bench(**sshd, link.port(), file, folder);
    Rates scp_up, up, scp_down, down;
    for (int i = 0; i < repeats; ++i) {
      scp_up.all.push_back(mb / seconds_of([&] { bench.scp_up(); }));
      bench.forget();
      up.all.push_back(mb / seconds_of([&] { bench.up(); }));
      scp_down.all.push_back(mb / seconds_of([&] { bench.scp_down(); }));
      down.all.push_back(mb / seconds_of([&] { bench.down(); }));
    }
    fmt::print("{:>7} ms {:>10.1f} {:>10.1f} {:>6.0f}% {:>10.1f} {:>10.1f} {:>6.0f}%\n", trip_ms,
               scp_up.median(), up.median(), 100 * up.median() / scp_up.median(), scp_down.median(),
               down.median(), 100 * down.median() / scp_down.median());
    std::fflush(stdout);
  }
  std::filesystem::remove_all(folder);
}
