#include "tests/support/sshd.h"

#include <signal.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <thread>

#include "base/process.h"
#include "remote/dial.h"
#include "remote/quote.h"
#include "tests/support/free_port.h"

namespace heddle::test {
namespace {

namespace fs = std::filesystem;

// $1: the test's folder, $2: the home's mount options or 0, $3: a shared folder or nothing. Runs as
// the first process of the node.
constexpr const char* kNode = R"sh(
set -e
folder=$1 home_options=$2
root=$folder/root
mount --make-rprivate /
mount -t tmpfs node "$root"
for name in bin sbin lib lib32 lib64 libx32; do
  if [ -L "/$name" ]; then cp -P "/$name" "$root/$name"
  elif [ -d "/$name" ]; then mkdir "$root/$name"; mount --bind -o ro "/$name" "$root/$name"
  fi
done
mkdir "$root/usr" "$root/etc" "$root/dev" "$root/proc" "$root/sys" "$root/root" "$root/run" \
  "$root/tmp" "$root/sshd"
mkdir "$root/run/sshd"
chmod 1777 "$root/tmp"
mount --rbind /usr "$root/usr"
mount -t tmpfs nothing "$root/usr/local"
mount --bind /etc "$root/etc"
mount --bind "$folder/passwd" "$root/etc/passwd"
mount --bind "$folder/shadow" "$root/etc/shadow"
if [ -f "$folder/pam" ]; then mount --bind "$folder/pam" "$root/etc/pam.d/sshd"; fi
mount --rbind /dev "$root/dev"
mount --rbind /sys "$root/sys"
mount -t proc proc "$root/proc"
if [ "$home_options" = 0 ]; then mount --bind "$folder/home" "$root/root"
else mount -t tmpfs -o "$home_options" home "$root/root"
fi
mount --bind "$folder/sshd" "$root/sshd"
if [ -n "$3" ]; then mkdir -p "$root$3"; mount --bind "$3" "$root$3"; fi
exec chroot "$root" /usr/sbin/sshd -D -e -f /sshd/config
)sh";

Result<std::string> checked(const std::vector<std::string>& argv) {
  process::Command command;
  command.argv = argv;
  const Result<process::Completed> completed = process::run(command);
  if (!completed) return fail(completed);
  if (completed->exit_code != 0) return fail("{}: {}", argv[0], completed->err);
  return completed->out;
}

void write(const std::string& file, const std::string& text, fs::perms mode = fs::perms(0644)) {
  std::ofstream(file) << text;
  fs::permissions(file, mode);
}

bool speaks(const std::string& address, uint16_t port) {
  const auto deadline = remote::Clock::now() + std::chrono::seconds(5);
  const Result<int> fd = remote::dial(address, port, deadline);
  if (!fd) return false;
  std::array<char, 4> banner{};
  while (recv(*fd, banner.data(), banner.size(), 0) < 0 && errno == EAGAIN &&
         remote::Clock::now() < deadline) {
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  close(*fd);
  return std::string(banner.data(), banner.size()) == "SSH-";
}

/// The network that the nodes of this process and this machine are on, a bridge: one of those that
/// are for tests of networks (RFC 2544).
int network_number = 0;
std::string bridge() { return fmt::format("hdl{}", network_number); }
std::string subnet() {
  return fmt::format("198.{}.{}.", 18 + network_number / 256, network_number % 256);
}
int nodes_on_bridge = 0;

Result<> all(const std::vector<std::vector<std::string>>& steps) {
  for (const auto& step : steps) {
    if (const auto done = checked(step); !done) return fail(done);
  }
  return {};
}

/// Takes a network that no other process has: names of bridges are unique.
Result<> build_bridge() {
  constexpr int kNetworks = 512;
  Result<> built;
  for (int i = 0; i < kNetworks; ++i) {
    network_number = (getpid() + i) % kNetworks;
    built = all({{"ip", "link", "add", bridge(), "type", "bridge"}});
    if (built || built.error().message.find("File exists") == std::string::npos) break;
  }
  if (!built) return built;
  return all({{"ip", "address", "add", subnet() + "1/24", "dev", bridge()},
              {"ip", "link", "set", bridge(), "up"}});
}

}  // namespace

Result<remote::Answers> answers_of(const remote::Questions& questions) {
  remote::Answers answers;
  for (const remote::Prompt& prompt : questions.prompts) {
    const size_t challenge = prompt.text.find("Code for ");
    answers.push_back(challenge == std::string::npos
                          ? "jacquard"
                          : std::to_string(std::stoi(prompt.text.substr(challenge + 9)) + 1));
  }
  return answers;
}

std::string Sshd::missing() {
  if (geteuid() != 0) return "a node for tests needs root: it is made of namespaces and mounts";
  for (const char* program : {"/usr/sbin/sshd", "/usr/bin/ssh-keygen", "/usr/bin/unshare"}) {
    if (!fs::exists(program)) return std::string(program) + " is not installed";
  }
  const Result<std::string> tried = checked({"unshare", "--mount", "--pid", "--fork", "true"});
  if (!tried) return "no namespaces here: " + tried.error().message;
  return {};
}

Sshd::Sshd(SshdOptions options, std::string folder)
    : options_(std::move(options)), folder_(std::move(folder)) {}

Result<std::unique_ptr<Sshd>> Sshd::start(const SshdOptions& options) {
  std::string folder = (fs::temp_directory_path() / "heddle-sshd-XXXXXX").string();
  if (!mkdtemp(folder.data())) return fail("no folder {}: {}", folder, std::strerror(errno));
  std::unique_ptr<Sshd> sshd(new Sshd(options, folder));
  if (const Result<> prepared = sshd->prepare(); !prepared) return fail(prepared);
  if (const Result<> started = sshd->start_again(); !started) return fail(started);
  return sshd;
}

Sshd::~Sshd() {
  stop();
  if (number_ > 0) {
    (void)checked({"ip", "link", "delete", network()});
    (void)checked({"ip", "netns", "delete", network()});
    if (--nodes_on_bridge == 0) (void)checked({"ip", "link", "delete", bridge()});
  }
  std::error_code error;
  fs::remove_all(folder_, error);
}

/// The name of the node's network, and of the near end of its cable.
std::string Sshd::network() const { return fmt::format("{}n{}", bridge(), number_); }

Result<> Sshd::lay_cable() {
  static int nodes = 1;  // this machine is the first on the network
  if (nodes_on_bridge == 0) {
    if (const Result<> built = build_bridge(); !built) return built;
  }
  number_ = ++nodes;
  ++nodes_on_bridge;
  address_ = subnet() + std::to_string(number_);
  const std::string name = network();
  return all({{"ip", "netns", "add", name},
              {"ip", "link", "add", name, "type", "veth", "peer", "name", "eth0", "netns", name},
              {"ip", "link", "set", name, "master", bridge(), "up"},
              {"ip", "-n", name, "address", "add", address_ + "/24", "dev", "eth0"},
              {"ip", "-n", name, "link", "set", "eth0", "up"},
              {"ip", "-n", name, "link", "set", "lo", "up"}});
}

Result<> Sshd::cut_cable() {
  return all({{"ip", "-n", network(), "route", "add", "blackhole", subnet() + "1/32"}});
}

Result<> Sshd::mend_cable() {
  return all({{"ip", "-n", network(), "route", "delete", "blackhole", subnet() + "1/32"}});
}

Result<> Sshd::cut_from(const Sshd& other) {
  return all({{"ip", "-n", network(), "route", "add", "blackhole", other.address_ + "/32"}});
}

Result<> Sshd::limit_cable(const std::string& rate) {
  const auto limit = [&](std::vector<std::string> tc, const std::string& device) {
    tc.insert(tc.end(), {"qdisc", "add", "dev", device, "root", "tbf", "rate", rate, "burst",
                         "16kb", "latency", "50ms"});
    return tc;
  };
  return all({limit({"tc"}, network()), limit({"tc", "-n", network()}, "eth0")});
}

void Sshd::let_in(const std::string& public_key_file) {
  std::ofstream(folder_ + "/sshd/authorized_keys", std::ios::app)
      << std::ifstream(public_key_file).rdbuf();
}

Result<> Sshd::make_key(const std::string& file) {
  fs::remove(file);
  fs::remove(file + ".pub");
  const auto made =
      checked({"ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", "test", "-f", file});
  if (!made) return fail(made);
  return {};
}

Result<> Sshd::change_host_key() {
  const std::string file = folder_ + "/sshd/host_key";
  if (Result<> made = make_key(file); !made) return made;
  return read_fingerprint(file);
}

Result<> Sshd::read_fingerprint(const std::string& file) {
  const Result<std::string> line = checked({"ssh-keygen", "-l", "-E", "sha256", "-f", file});
  if (!line) return fail(line);
  const size_t begin = line->find("SHA256:");
  fingerprint_ = line->substr(begin, line->find(' ', begin) - begin);
  return {};
}

Result<> Sshd::prepare() {
  for (const char* name : {"/root", "/home", "/sshd", "/user/.ssh"}) {
    fs::create_directories(folder_ + name);
  }
  fs::permissions(user_home() + "/.ssh", fs::perms(0700));
  if (!options_.files.empty()) {
    fs::copy(options_.files, folder_ + "/sshd", fs::copy_options::recursive);
  }
  const std::string host_key = folder_ + "/sshd/host_key";
  const Result<> has_key = fs::exists(host_key) ? read_fingerprint(host_key) : change_host_key();
  if (!has_key) return has_key;
  const std::string key = user_home() + "/.ssh/id_ed25519";
  if (Result<> made = make_key(key); !made) return made;
  fs::copy_file(key + ".pub", folder_ + "/sshd/authorized_keys");
  port_ = free_port();
  if (options_.own_network) {
    if (Result<> laid = lay_cable(); !laid) return laid;
  }
  if (options_.questions) {
    fs::copy_file(HEDDLE_PAM_QUESTIONS, folder_ + "/sshd/pam_questions.so");
    write(folder_ + "/pam",
          "auth required /sshd/pam_questions.so\n"
          "account required pam_permit.so\n"
          "session required pam_permit.so\n");
    options_.config += "UsePAM yes\nKbdInteractiveAuthentication yes\nPermitRootLogin yes\n";
  }
  // The first line of each keyword holds.
  write(folder_ + "/sshd/config", fmt::format("{}"
                                              "Port {}\n"
                                              "ListenAddress {}\n"
                                              "HostKey /sshd/host_key\n"
                                              "AuthorizedKeysFile /sshd/authorized_keys\n"
                                              "PermitRootLogin prohibit-password\n"
                                              "PasswordAuthentication no\n"
                                              "KbdInteractiveAuthentication no\n"
                                              "UsePAM no\n"
                                              "StrictModes no\n"
                                              "PidFile none\n",
                                              options_.config, port_, address_));
  write(folder_ + "/passwd", fmt::format("root:x:0:0:root:/root:{}\n"
                                         "sshd:x:102:65534::/run/sshd:/usr/sbin/nologin\n"
                                         "nobody:x:65534:65534:nobody:/:/usr/sbin/nologin\n",
                                         options_.login_shell));
  write(folder_ + "/shadow", "root:*:19000:0:99999:7:::\nsshd:!:19000::::::\n", fs::perms(0600));
  return {};
}

Result<> Sshd::start_again() {
  // --kill-child and the process namespace: nothing of the node outlives `unshare`.
  std::string home = "0";
  if (options_.home_bytes > 0) {
    home = fmt::format("size={}{}", options_.home_bytes, options_.home_noexec ? ",noexec" : "");
  }
  const std::string log = folder_ + "/log";
  const std::string where = options_.own_network ? "exec ip netns exec " + network() : "exec";
  const std::string line = where + " unshare --mount --pid --fork --kill-child=KILL /bin/sh -c " +
                           remote::quote(kNode) + " sh " + remote::quote(folder_) + " " + home +
                           " " + remote::quote(options_.shared) + " < /dev/null > " +
                           remote::quote(log) + " 2>&1";
  std::array<char*, 4> argv{const_cast<char*>("/bin/sh"), const_cast<char*>("-c"),
                            const_cast<char*>(line.c_str()), nullptr};
  if (posix_spawn(&pid_, argv[0], nullptr, nullptr, argv.data(), environ) != 0) {
    return fail("unshare cannot be started");
  }
  const auto deadline = remote::Clock::now() + std::chrono::seconds(60);
  while (!speaks(address_, port_)) {
    if (waitpid(pid_, nullptr, WNOHANG) == pid_ || remote::Clock::now() > deadline) {
      std::ifstream said(log);
      return fail("sshd did not start: {}", std::string(std::istreambuf_iterator<char>(said), {}));
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
  return {};
}

void Sshd::drop_connections() const {
  // The listener is the only child of `unshare`; each of its own serves a connection.
  (void)checked({"/bin/sh", "-c", "pkill -KILL -x sshd -P \"$(pgrep -P \"$1\")\"", "sh",
                 std::to_string(pid_)});
}

void Sshd::stop() {
  if (pid_ <= 0) return;
  kill(pid_, SIGKILL);
  waitpid(pid_, nullptr, 0);
  pid_ = -1;
  // The port is free once the node's last process is gone.
  const auto deadline = remote::Clock::now() + std::chrono::seconds(10);
  while (speaks(address_, port_) && remote::Clock::now() < deadline) {
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
}

remote::Target Sshd::target() const {
  remote::Host host;
  host.name = "node";
  host.address = address_;
  host.user = "root";
  host.port = port_;
  remote::Target target;
  target.name = "node";
  target.hosts = {host};
  return target;
}

remote::Target Sshd::trusted_target() const {
  remote::Target trusted = target();
  trusted.accepted_keys = {{fmt::format("{}:{}", address_, port_), fingerprint_}};
  return trusted;
}

remote::ConnectOptions Sshd::connect_options() const {
  remote::ConnectOptions options;
  options.ssh_folder = user_home() + "/.ssh";
  options.use_agent = false;
  return options;
}

std::unique_ptr<remote::Node> Sshd::connected() const {
  const remote::Target target = trusted_target();
  auto node = remote::connect(target, target.hosts[0], connect_options());
  if (!node) fmt::print(stderr, "{}\n", node.error().message);
  return node ? std::move(*node) : nullptr;
}

}  // namespace heddle::test
