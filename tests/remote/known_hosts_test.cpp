// Host keys: what Heddle makes of known_hosts files, next to what ssh makes of them, against a real
// sshd (fixtures/known_hosts.cases).
#include "remote/known_hosts.h"

#include <sys/stat.h>

#include <QtTest>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "base/process.h"
#include "remote/connect.h"
#include "tests/remote/cases.h"
#include "tests/support/files.h"
#include "tests/support/results.h"
#include "tests/support/sshd.h"
#include "tests/support/test_class.h"

using namespace heddle;
using namespace heddle::remote;
using heddle::test::read_text;

namespace {

namespace fs = std::filesystem;

std::string output_of(const std::vector<std::string>& argv) {
  process::Command command;
  command.argv = argv;
  const auto completed = process::run(command);
  if (!completed || completed->exit_code != 0) qFatal("%s failed", argv[0].c_str());
  return completed->out;
}

/// One case, ready to be tried.
struct Trial {
  std::string server = "plain";
  std::string alias;
  std::vector<std::string> files;
  std::string heddle, ssh;  // the words for what each of them makes of it
};

int strictness(const std::string& verdict) {
  return verdict == "known" ? 0 : verdict == "unknown" ? 1 : 2;
}

}  // namespace

class KnownHostsTest : public QObject {
  Q_OBJECT

  QTemporaryDir folder_;
  std::map<std::string, std::unique_ptr<test::Sshd>> servers_;
  std::map<std::string, std::string> keys_;

  std::string path(const std::string& name) const {
    return folder_.path().toStdString() + "/" + name;
  }

  void make_key(const std::string& name, const std::string& type) {
    fs::create_directories(path("keys"));
    const std::string file = path("keys/" + name);
    output_of({"ssh-keygen", "-q", "-t", type, "-N", "", "-C", "", "-f", file});
    std::istringstream line(read_text(file + ".pub"));
    std::string algorithm, blob;
    line >> algorithm >> blob;
    keys_[name] = algorithm + " " + blob;
  }

  /// A host with keys of three types, perhaps with a certificate of `ca`.
  void start(const std::string& name, const std::string& validity = {}) {
    const std::string files = path(name);
    fs::create_directories(files);
    const std::map<std::string, std::string> host_keys{
        {"ed25519", "host_key"}, {"rsa", "rsa"}, {"ecdsa", "ecdsa"}};
    for (const auto& [key, file] : host_keys) {
      fs::copy_file(path("keys/" + key), files + "/" + file);
      fs::copy_file(path("keys/" + key + ".pub"), files + "/" + file + ".pub");
    }
    std::string config = "HostKey /sshd/rsa\nHostKey /sshd/ecdsa\n";
    if (!validity.empty()) {
      output_of({"ssh-keygen", "-q", "-s", path("keys/ca"), "-h", "-I", "test", "-n",
                 "127.0.0.1,gpu1.lab", "-V", validity, files + "/host_key.pub"});
      config += "HostCertificate /sshd/host_key-cert.pub\n";
    }
    test::SshdOptions options;
    options.files = files;
    options.config = config;
    auto started = test::Sshd::start(options);
    if (!started) qFatal("%s", started.error().message.c_str());
    servers_[name] = std::move(*started);
  }

  /// "|1|…" as ssh-keygen makes it.
  std::string hashed(const std::string& name) const {
    std::ofstream(path("hashing")) << name << " " << keys_.at("ed25519") << "\n";
    output_of({"ssh-keygen", "-q", "-H", "-f", path("hashing")});
    const std::string text = read_text(path("hashing"));
    return text.substr(0, text.find(' '));
  }

  /// {…} and escapes of a fixture's line.
  std::string replaced(const std::string& line, uint16_t port) const {
    const std::string name = fmt::format("[127.0.0.1]:{}", port);
    std::string made;
    for (size_t at = 0; at < line.size(); ++at) {
      if (line[at] == '\\') {
        const char c = line[++at];
        made += c == 'r' ? '\r' : c == 't' ? '\t' : c == '0' ? '\0' : c == 'B' ? '\xEF' : c;
        continue;
      }
      const size_t end = line[at] == '{' ? line.find('}', at) : line.npos;
      if (end == line.npos) {
        made += line[at];
        continue;
      }
      std::istringstream words(line.substr(at + 1, end - at - 1));
      std::string what, argument;
      words >> what >> argument;
      at = end;
      const std::string text = argument == "name" ? name : argument;
      if (what == "name") {
        made += name;
      } else if (what == "end") {
        made += "{end}";
      } else if (what == "port") {
        made += std::to_string(port);
      } else if (what == "hash") {
        made += hashed(text);
      } else if (what == "names") {
        for (int i = 0; i < std::stoi(argument); ++i) made += fmt::format("gpu{}.far,", i);
      } else if (what == "letters") {
        made += std::string(std::stoul(argument), 'x');
      } else if (what == "lines") {
        for (int i = 0; i < std::stoi(argument); ++i)
          made += fmt::format("gpu{}.far {}\n", i, keys_.at("other"));
      } else if (what == "blob") {
        made += keys_.at(argument).substr(keys_.at(argument).find(' ') + 1);
      } else if (keys_.contains(what)) {
        made += keys_.at(what);
      } else {
        qFatal("{%s} stands for nothing", what.c_str());
      }
    }
    return made;
  }

  /// Writes the files of a case; its last line says what is made of them.
  Trial prepare(const test::Case& one) {
    Trial trial;
    trial.files = {path("known_hosts"), path("known_hosts2"), path("ssh_known_hosts")};
    for (const std::string& file : trial.files) fs::remove_all(file);
    std::string file = trial.files[0];
    std::map<std::string, std::string> texts;
    for (const std::string& line : one.lines) {
      const std::string value = line.substr(line.find(' ') + 1);
      if (line.starts_with("-> ")) {
        trial.heddle = value.substr(0, value.find(", ssh: "));
        trial.ssh = value.substr(value.find(", ssh: ") == value.npos ? 0 : trial.heddle.size() + 7);
      } else if (line.starts_with("server ")) {
        trial.server = value;
      } else if (line.starts_with("alias ")) {
        trial.alias = value;
      } else if (line == "folder") {
        fs::create_directory(trial.files[0]);
      } else if (line == "second:" || line == "global:") {
        file = trial.files[line == "second:" ? 1 : 2];
      } else {
        texts[file] += replaced(line, servers_.at(trial.server)->port()) + "\n";
      }
    }
    for (auto& [name, text] : texts) {
      if (text.ends_with("\\\n")) qFatal("a line ends with a backslash");
      if (const size_t end = text.find("{end}\n"); end != text.npos) text.erase(end);
      std::ofstream(name, std::ios::binary) << text;
    }
    return trial;
  }

  std::string ssh_says(const Trial& trial) const {
    process::Command command;
    command.argv = {"ssh",
                    "-F",
                    "none",
                    "-p",
                    std::to_string(servers_.at(trial.server)->port()),
                    "-o",
                    "BatchMode=yes",
                    "-o",
                    "StrictHostKeyChecking=yes",
                    "-o",
                    "UserKnownHostsFile=" + trial.files[0] + " " + trial.files[1],
                    "-o",
                    "GlobalKnownHostsFile=" + trial.files[2],
                    "-o",
                    "PreferredAuthentications=none"};
    if (!trial.alias.empty()) {
      command.argv.insert(command.argv.end(), {"-o", "HostKeyAlias=" + trial.alias});
    }
    command.argv.insert(command.argv.end(), {"root@127.0.0.1", "true"});
    const std::string said = process::run(command)->err;
    const auto says = [&](const char* words) { return said.find(words) != said.npos; };
    // Past the host key it asks for a login, which it is not given.
    if (says("Permission denied")) return "known";
    if (says("REVOKED HOST KEY")) return "revoked";
    if (says("HAS CHANGED")) return "changed";
    return says("host key is known for") ? "unknown" : "?" + said;
  }

  ConnectError refusal(const Trial& trial) const {
    const test::Sshd& sshd = *servers_.at(trial.server);
    Target target = sshd.target();
    target.hosts[0].host_key_alias = trial.alias;
    target.hosts[0].known_hosts = trial.files;
    ConnectOptions options = sshd.connect_options();
    options.ssh_folder = path("no-keys");
    const auto node = remote::connect(target, target.hosts[0], options);
    return node ? ConnectError{} : node.error();
  }

  static std::string verdict(const ConnectError& error) {
    using Kind = ConnectError::Kind;
    switch (error.kind) {
      case Kind::key_refused:
        return "known";
      case Kind::host_key_unknown:
        return "unknown";
      case Kind::host_key_changed:
        return "changed";
      case Kind::host_key_refused:
        return error.message.find("revokes ") != std::string::npos ? "revoked" : "unreadable";
      default:
        return "?" + error.message;
    }
  }

 private Q_SLOTS:
  void initTestCase() {
    const std::string missing = test::Sshd::missing();
    if (!missing.empty()) QSKIP(missing.c_str());
    for (const char* type : {"ed25519", "rsa", "ecdsa", "dsa"}) make_key(type, type);
    for (const char* name : {"other", "ca", "other-ca"}) make_key(name, "ed25519");
    make_key("other-rsa", "rsa");
    start("plain");
    start("certified", "-1d:+1d");
    start("expired", "-2d:-1d");
  }

  void no_file_is_taken_more_lightly_than_by_ssh_data() {
    QTest::addColumn<int>("index");
    const auto cases =
        test::read_cases(HEDDLE_SOURCE_DIR "/tests/remote/fixtures/known_hosts.cases");
    QVERIFY(cases.size() >= 60);
    for (size_t i = 0; i < cases.size(); ++i)
      QTest::newRow(cases[i].title.c_str()) << static_cast<int>(i);
  }
  void no_file_is_taken_more_lightly_than_by_ssh() {
    QFETCH(int, index);
    const auto cases =
        test::read_cases(HEDDLE_SOURCE_DIR "/tests/remote/fixtures/known_hosts.cases");
    const Trial trial = prepare(cases[static_cast<size_t>(index)]);
    const std::string ssh = ssh_says(trial);
    const ConnectError error = refusal(trial);
    QCOMPARE(QString::fromStdString(verdict(error)), QString::fromStdString(trial.heddle));
    QCOMPARE(QString::fromStdString(ssh), QString::fromStdString(trial.ssh));
    QVERIFY(strictness(trial.heddle) >= strictness(ssh));
    // Where Heddle is stricter it says which line makes it so.
    if (strictness(trial.heddle) > strictness(ssh)) {
      QVERIFY2(error.message.find("known_hosts") != std::string::npos, error.message.c_str());
    }
  }

  void the_files_are_those_of_ssh() {
    process::Command command;
    command.argv = {"ssh", "-G", "-F", "none", "host"};
    std::istringstream options(process::run(command)->out);
    std::vector<std::string> user, global;
    for (std::string line; std::getline(options, line);) {
      std::istringstream words(line);
      std::string key, file;
      words >> key;
      while (words >> file) {
        if (key == "userknownhostsfile") user.push_back(file);
        if (key == "globalknownhostsfile") global.push_back(file);
      }
    }
    const std::string folder = fs::path(user.at(0)).parent_path();
    user.insert(user.end(), global.begin(), global.end());
    QCOMPARE(known_hosts_files({}, folder), user);
  }

  void a_file_that_cannot_be_read_ends_the_matter() {
    const std::string pipe = path("pipe");
    QCOMPARE(mkfifo(pipe.c_str(), 0600), 0);
    VERIFY_SAYS(KnownHosts::read({pipe}, {}), pipe + ": cannot be read: it is no regular file");
    VERIFY_SAYS(KnownHosts::read({"/dev/zero"}, {}), "it is no regular file");
    const std::string large = path("large");
    std::ofstream(large) << "";
    fs::resize_file(large, uint64_t{65} << 20);
    VERIFY_SAYS(KnownHosts::read({large}, {}), "at most 67108864 are read");
    VERIFY_RESULT(KnownHosts::read({"/dev/null", path("none"), "/dev/null/none"}, {}));
  }

  void a_key_is_accepted_for_the_target_alone_and_the_file_stays_as_it_is() {
    const test::Sshd& sshd = *servers_.at("plain");
    Target target = sshd.target();
    const std::string file = path("kept");
    const std::string before = "gpu1.far " + keys_.at("other") + "\n# no end of line";
    std::ofstream(file) << before;
    target.hosts[0].known_hosts = {file};
    const auto refused = remote::connect(target, target.hosts[0], sshd.connect_options());
    QVERIFY(!refused);
    QCOMPARE(refused.error().key.fingerprint, sshd.fingerprint());
    target.accepted_keys = {refused.error().key};
    VERIFY_RESULT(remote::connect(target, target.hosts[0], sshd.connect_options()));
    QCOMPARE(read_text(file), before);

    // A word against the key weighs more than having accepted it.
    std::ofstream(file) << "@revoked * " + keys_.at("ed25519") + "\n";
    VERIFY_SAYS(remote::connect(target, target.hosts[0], sshd.connect_options()),
                file + ":1 revokes this key");
    std::ofstream(file) << "* " + keys_.at("other") + "\n";
    VERIFY_SAYS(remote::connect(target, target.hosts[0], sshd.connect_options()),
                file + ":1 has another key of it");
  }
};

HEDDLE_TEST(KnownHostsTest)
#include "known_hosts_test.moc"
