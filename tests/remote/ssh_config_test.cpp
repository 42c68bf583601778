// Compares Heddle's reading of ssh_config files with `ssh -G` (fixtures/ssh_config.cases).
#include "remote/ssh_config.h"

#include <pwd.h>
#include <sys/stat.h>
#include <unistd.h>

#include <QtTest>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>
#include <sstream>

#include "base/process.h"
#include "remote/ssh_config_values.h"
#include "remote/ssh_folder.h"
#include "remote/ssh_pattern.h"
#include "tests/remote/cases.h"
#include "tests/support/results.h"
#include "tests/support/test_class.h"

using namespace heddle;
using namespace heddle::remote;

namespace {

namespace fs = std::filesystem;

using Texts = std::vector<std::string>;

/// ssh's reading of a config for a host: keyword to values; nothing where it refuses.
std::optional<std::multimap<std::string, std::string>> ssh_says(const std::string& config,
                                                                const Texts& host) {
  process::Command command;
  command.argv = {"ssh", "-G", "-F", config};
  command.argv.insert(command.argv.end(), host.begin(), host.end());
  const auto completed = process::run(command);
  if (!completed || completed->exit_code != 0) return std::nullopt;
  std::multimap<std::string, std::string> options;
  std::istringstream lines(completed->out);
  for (std::string line; std::getline(lines, line);) {
    const size_t blank = line.find(' ');
    if (blank != line.npos) options.emplace(line.substr(0, blank), line.substr(blank + 1));
  }
  return options;
}

/// The words of ssh's command line for "[user@]host[:port]".
Texts ssh_words(const std::string& text) {
  const Host host = must(parse_host(text));
  Texts words;
  if (const uint16_t port = typed_port(text)) {
    words.insert(words.end(), {"-p", std::to_string(port)});
  }
  if (!host.user.empty()) words.insert(words.end(), {"-l", host.user});
  words.push_back(host.address);
  return words;
}

/// The key files that ssh would look for, all paths complete.
Texts identities_of_ssh(const std::string& config, const Texts& host) {
  process::Command command;
  command.argv = {"ssh", "-v", "-F", config, "-o", "ProxyCommand=false", "-o", "BatchMode=yes"};
  command.argv.insert(command.argv.end(), host.begin(), host.end());
  std::istringstream lines(process::run(command)->err);
  const std::string begin = "debug1: identity file ";
  Texts files;
  for (std::string line; std::getline(lines, line);) {
    while (line.ends_with('\r')) line.pop_back();
    if (!line.starts_with(begin)) continue;
    const std::string file = line.substr(begin.size(), line.rfind(" type ") - begin.size());
    if (!file.ends_with("-cert")) files.push_back(file);
  }
  return files;
}

std::string local_user() { return getpwuid(getuid())->pw_name; }

std::string joined(const Texts& texts) { return fmt::format("{}", fmt::join(texts, " ")); }

/// The case's host as it comes out, in the words of `ssh -G`.
std::map<std::string, std::string> in_words_of_ssh(const Host& host) {
  Texts known;
  for (const std::string& file : host.known_hosts) known.push_back(in_home(file));
  return {{"hostname", host.address},
          {"user", host.user.empty() ? local_user() : host.user},
          {"port", std::to_string(host.port)},
          {"identitiesonly", host.identities_only ? "yes" : "no"},
          {"hostkeyalias", host.host_key_alias},
          {"known", joined(known)},
          {"jump", host.jump},
          {"command", host.proxy_command.empty() ? "none" : "some"},
          {"controlpath", host.control_path.empty() ? "none" : host.control_path},
          {"certificates", joined(host.certificate_files)}};
}

}  // namespace

class SshConfigTest : public QObject {
  Q_OBJECT

  QTemporaryDir folder_;
  const std::vector<test::Case> cases_ =
      test::read_cases(HEDDLE_SOURCE_DIR "/tests/remote/fixtures/ssh_config.cases");

  std::string path(const std::string& name) const {
    return folder_.path().toStdString() + "/" + name;
  }

  /// Writes the case's files; "{folder}" is their folder. The first one is the config.
  std::string write(const std::vector<std::string>& lines) const {
    std::string file = path("config");
    std::map<std::string, std::string> texts{{file, ""}};
    for (std::string line : lines) {
      if (line.starts_with("file ")) {
        file = path(line.substr(5));
        texts[file];
        continue;
      }
      for (size_t at; (at = line.find("{folder}")) != line.npos;)
        line.replace(at, 8, folder_.path().toStdString());
      for (size_t at; (at = line.find("{cr}")) != line.npos;) line.replace(at, 4, "\r");
      for (size_t at; (at = line.find("{tab}")) != line.npos;) line.replace(at, 5, "\t");
      texts[file] += line + "\n";
    }
    for (const auto& [name, text] : texts) {
      fs::create_directories(fs::path(name).parent_path());
      std::ofstream(name) << text;
      fs::permissions(name, fs::perms(0600));
    }
    return path("config");
  }

  /// ssh -G's answer, in the same words as in_words_of_ssh: known_hosts and jumps need a look.
  std::map<std::string, std::string> words_of(
      const std::string& config, const std::multimap<std::string, std::string>& said,
      const std::multimap<std::string, std::string>& usual) {
    const auto one = [](const auto& options, const char* key) {
      const auto found = options.find(key);
      return found == options.end() ? std::string() : found->second;
    };
    std::map<std::string, std::string> words;
    for (const char* key : {"hostname", "user", "port", "identitiesonly", "hostkeyalias"})
      words[key] = one(said, key);
    // Heddle has the command with its names in place: ssh -G has not.
    words["command"] = one(said, "proxycommand").empty() ? "none" : "some";
    words["controlpath"] = one(said, "controlpath").empty() ? "none" : one(said, "controlpath");
    Texts certificates;
    for (auto [from, to] = said.equal_range("certificatefile"); from != to; ++from)
      certificates.push_back(in_home(from->second));
    words["certificates"] = joined(certificates);
    std::string known;
    bool own = false;
    for (const char* key : {"userknownhostsfile", "globalknownhostsfile"}) {
      own |= one(said, key) != one(usual, key);
      const std::string files = one(said, key) == "none" ? "" : one(said, key);
      known += (known.empty() || files.empty() ? "" : " ") + files;
    }
    words["known"] = !own ? "" : known.empty() ? "/dev/null" : known;
    if (const std::string jump = one(said, "proxyjump"); !jump.empty()) {
      std::string text = jump.starts_with("ssh://") ? jump.substr(6) : jump;
      if (text.ends_with('/')) text.pop_back();
      const auto there = ssh_says(config, ssh_words(text));
      const std::string user = one(*there, "user");
      words["jump"] = (user == local_user() ? "" : user + "@") + one(*there, "hostname") + ":" +
                      one(*there, "port");
    } else {
      words["jump"] = "";
    }
    return words;
  }

 private Q_SLOTS:
  void initTestCase() {
    if (!fs::exists("/usr/bin/ssh")) QSKIP("ssh is not installed");
    // Where ssh looks for the home, whatever the environment says.
    qputenv("HOME", getpwuid(getuid())->pw_dir);
    qputenv("HEDDLE_TEST_WORD", "word");
    qunsetenv("HEDDLE_TEST_NONE");
  }

  void every_case_is_as_ssh_has_it_or_said_data() {
    QTest::addColumn<int>("index");
    QVERIFY(cases_.size() >= 120);
    std::set<std::string> titles;
    for (size_t i = 0; i < cases_.size(); ++i) {
      QVERIFY2(titles.insert(cases_[i].title).second, cases_[i].title.c_str());
      QTest::newRow(cases_[i].title.c_str()) << static_cast<int>(i);
    }
  }
  void every_case_is_as_ssh_has_it_or_said() {
    QFETCH(int, index);
    std::vector<std::string> lines = cases_[static_cast<size_t>(index)].lines;
    const std::string expected = lines.back().substr(3);
    lines.pop_back();
    std::string asked = "node";
    if (!lines.empty() && lines[0].starts_with("ask ")) {
      asked = lines[0].substr(4);
      lines.erase(lines.begin());
    }
    const std::string config = write(lines);

    const auto said = ssh_says(config, ssh_words(asked));
    const auto usual = ssh_says("none", ssh_words(asked));
    const auto resolved = resolve_host(asked, config);
    if (expected.starts_with("refused: ")) {
      const std::string words = expected.substr(9);
      VERIFY_SAYS(resolved, words);
      return;
    }
    VERIFY_RESULT(resolved);
    QVERIFY2(said, "ssh refuses it");
    QVERIFY(usual);
    std::string notes;
    for (const std::string& note : resolved->notes) notes += note + "\n";
    const auto mine = in_words_of_ssh(resolved->host);
    const auto others = words_of(config, *said, *usual);
    for (const auto& [key, value] : others) {
      QVERIFY2(mine.at(key) == value,
               fmt::format("{}: \"{}\", ssh: \"{}\"", key, mine.at(key), value).c_str());
    }
    if (!resolved->host.identity_files.empty()) {
      Texts files;
      for (const std::string& file : resolved->host.identity_files)
        if (lower(file) != kNoIdentity) files.push_back(in_home(file));
      QCOMPARE(joined(files), joined(identities_of_ssh(config, ssh_words(asked))));
    } else {
      QVERIFY(said->find("identityfile")->second == usual->find("identityfile")->second);
    }
    // Other options that differ from ssh without a config must be reported. UpdateHostKeys
    // follows from UserKnownHostsFile, and Heddle never writes known_hosts.
    const std::set<std::string> followed{"host",
                                         "hostname",
                                         "user",
                                         "port",
                                         "identityfile",
                                         "identitiesonly",
                                         "hostkeyalias",
                                         "proxyjump",
                                         "proxycommand",
                                         "controlpath",
                                         "certificatefile",
                                         "userknownhostsfile",
                                         "globalknownhostsfile",
                                         "ignoreunknown",
                                         "updatehostkeys"};
    for (const auto& [key, value] : *said) {
      ConfigLine line;
      line.key = key;
      if (followed.contains(key) || is_idle(line)) continue;
      const auto [from, to] = usual->equal_range(key);
      const bool same =
          std::any_of(from, to, [&](const auto& other) { return other.second == value; });
      QVERIFY2(same || lower(notes).find(": " + key + " is ignored") != notes.npos,
               fmt::format("{} {} is not said", key, value).c_str());
    }
    if (expected.starts_with("noted: ")) {
      const std::string words = expected.substr(7);
      QVERIFY2(notes.find(words) != notes.npos, notes.c_str());
    } else {
      QCOMPARE(expected, std::string("same"));
      QCOMPARE(notes, std::string());
    }
  }

  void the_hosts_of_a_config_are_offered() {
    const std::string config = write({"Host gpu1 gpu2 *.lab !gpu3", "  Port 2222", "Host tunnel",
                                      "  ProxyCommand nc %h %p", "Host gpu1", "  User ann",
                                      "Host other", "  RevokedHostKeys ~/.ssh/revoked"});
    const SshConfig hosts = ConfiguredHosts(config).now();
    QCOMPARE(hosts.hosts.size(), size_t{3});
    QCOMPARE(hosts.hosts[2].proxy_command, std::string("nc tunnel 22"));
    QCOMPARE(hosts.hosts[0].name, std::string("gpu1"));
    QCOMPARE(hosts.hosts[0].user, std::string("ann"));
    QCOMPARE(hosts.hosts[1].port, uint16_t{2222});
    QCOMPARE(hosts.warnings.size(), size_t{1});
    QVERIFY(QString::fromStdString(hosts.warnings[0]).startsWith("other: " + folder_.path()));
    QVERIFY(ConfiguredHosts("/no/such/file").now().hosts.empty());
    QVERIFY(ConfiguredHosts(write({"Host \"gpu1"})).now().warnings.size() == 1);
  }

  void what_has_changed_is_offered() {
    ConfiguredHosts hosts(write({"Include {folder}/*.more", "Host gpu1", "  User ann"}));
    const auto names = [&] {
      std::string all;
      for (const Host& host : hosts.now().hosts) all += host.user + "@" + host.name + " ";
      return all + std::to_string(hosts.now().warnings.size());
    };
    QCOMPARE(names(), std::string("ann@gpu1 0"));
    QCOMPARE(names(), std::string("ann@gpu1 0"));
    write({"Include {folder}/*.more", "Host gpu1", "  User bob"});
    QCOMPARE(names(), std::string("bob@gpu1 0"));
    write({"Include {folder}/*.more", "Host gpu1", "  User bob", "file a.more", "Host gpu2 gpu1",
           "  User eve"});
    QCOMPARE(names(), std::string("eve@gpu2 eve@gpu1 0"));
    std::ofstream(path("b.more")) << "Host \"gpu3\n";
    QCOMPARE(names(), std::string("1"));
    fs::remove(path("a.more"));
    fs::remove(path("b.more"));
    QCOMPARE(names(), std::string("bob@gpu1 0"));
  }

  void a_config_that_others_can_write_is_refused() {
    const std::string config =
        write({"Include {folder}/other", "file other", "Host gpu1", "  User mallory"});
    const std::string other = path("other");
    QCOMPARE(must(resolve_host("gpu1", config)).host.user, std::string("mallory"));
    fs::permissions(other,
                    fs::perms(0620));  // which Debian's ssh takes where the group is one's own
    VERIFY_SAYS(resolve_host("gpu1", config), "others can write to it: chmod go-w '" + other);
    fs::permissions(other, fs::perms(0602));
    QVERIFY(!ssh_says(config, {"gpu1"}));
    VERIFY_SAYS(resolve_host("gpu1", config), "others can write to it: chmod go-w '" + other);
    fs::permissions(other, fs::perms(0600));
    if (geteuid() != 0) QSKIP("to give a file to someone else needs root");
    QCOMPARE(chown(other.c_str(), 65534, 65534), 0);
    QVERIFY(!ssh_says(config, {"gpu1"}));
    VERIFY_SAYS(resolve_host("gpu1", config), "it belongs to someone else");
    fs::remove(other);
  }

  void a_pipe_or_an_endless_file_is_not_waited_for() {
    const std::string pipe = path("pipe");
    QCOMPARE(mkfifo(pipe.c_str(), 0600), 0);
    VERIFY_SAYS(resolve_host("gpu1", pipe), "it is no regular file");
    VERIFY_SAYS(resolve_host("gpu1", "/dev/zero"), "it is no regular file");
    const std::string config = write({"Include {folder}/config"});
    VERIFY_SAYS(resolve_host("gpu1", config), "too many files inside one another");
    VERIFY_SAYS(
        resolve_host("gpu1", write({"Include {folder}/a", "file a", "Include {folder}/b {folder}/b",
                                    "file b", "Include {folder}/a {folder}/a"})),
        "too many");
  }

  void commands_are_never_run() {
    const std::string trace = path("trace");
    const std::string config = write({"Match exec \"touch " + trace + "\"", "  User mallory"});
    const auto resolved = must(resolve_host("gpu1", config));
    QCOMPARE(resolved.host.user, std::string());
    QCOMPARE(resolved.notes.size(), size_t{1});
    QVERIFY(!fs::exists(trace));
  }
};

HEDDLE_TEST(SshConfigTest)
#include "ssh_config_test.moc"
