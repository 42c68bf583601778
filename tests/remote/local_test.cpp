// Tests that need no host: quoting, targets, this machine as a node.
#include <QtTest>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "base/process.h"
#include "remote/connect.h"
#include "remote/hash_cache.h"
#include "remote/quote.h"
#include "remote/sha256.h"
#include "tests/support/files.h"
#include "tests/support/results.h"
#include "tests/support/test_class.h"

using namespace heddle;
using namespace heddle::remote;
using heddle::test::read_text;

namespace {

std::string line_of(const Host& host) {
  const std::string user = host.user.empty() ? "" : host.user + "@";
  std::string line = fmt::format("{}: {}{}:{}", host.name, user, host.address, host.port);
  return line + "\n";
}

}  // namespace

class LocalTest : public QObject {
  Q_OBJECT

  QTemporaryDir folder_;
  std::string path(const std::string& name) const {
    return folder_.path().toStdString() + "/" + name;
  }

 private Q_SLOTS:
  void a_shell_reads_back_what_was_quoted() {
    std::vector<std::string> words{"",   "'",    "''", "\"$HOME\"", "a\nb",
                                   "\n", "`id`", "\\", "-e",        "!x"};
    std::string every;
    for (int c = 1; c < 256; ++c) every += static_cast<char>(c);
    words.push_back(every);
    std::string expected;
    for (const std::string& word : words) expected += word + '\0';

    process::Command quoted;
    std::string script = "for a; do printf '%s\\0' \"$a\"; done";
    quoted.argv = {"/bin/sh", "-c", "set --"};
    for (const std::string& word : words) quoted.argv[2].append(1, ' ').append(quote(word));
    quoted.argv[2] += "; " + script;
    QCOMPARE(process::run(quoted)->out, expected);

    std::vector<std::string> argv{"/bin/sh", "-c", script, "sh"};
    argv.insert(argv.end(), words.begin(), words.end());
    QCOMPARE(quote_line(argv).find('\n'), quote_line(argv).size() - 1);
    process::Command line;
    line.argv = {"/bin/sh", "-c", kReadArguments};
    line.input = quote_line(argv);
    const std::string out = process::run(line)->out;
    QCOMPARE(out.substr(out.find('\n') + 1), expected);
  }

  void programs_have_a_deadline_and_an_exit_code() {
    process::Command command;
    command.argv = {"/bin/sh", "-c", "cat; echo err >&2; exit 3"};
    command.input = std::string(1 << 20, 'x');
    const auto completed = process::run(command);
    QCOMPARE(completed->out, command.input);
    QCOMPARE(completed->err, std::string("err\n"));
    QCOMPARE(completed->exit_code, 3);
    command.argv = {"/bin/sh", "-c", "kill -TERM $$"};
    QCOMPARE(process::run(command)->exit_code, 128 + 15);
    command.argv = {"/bin/sh", "-c", "sleep 600 & sleep 600"};
    command.deadline = std::chrono::milliseconds(200);
    VERIFY_SAYS(process::run(command), "did not end within 0.2 s");
    command.argv = {"/no/such/program"};
    VERIFY_SAYS(process::run(command), "cannot run /no/such/program: No such file");
  }

  void hosts_are_parsed_data() {
    QTest::addColumn<QString>("text");
    QTest::addColumn<QString>("expected");
    QTest::newRow("host") << "node"
                          << "node: node:22\n";
    QTest::newRow("all") << "ann@node:2200"
                         << "node: ann@node:2200\n";
    QTest::newRow("IPv6") << "ann@[fe80::1]:2200"
                          << "fe80::1: ann@fe80::1:2200\n";
    QTest::newRow("bare IPv6") << "fe80::1"
                               << "fe80::1: fe80::1:22\n";
    QTest::newRow("port")
        << "node:ssh"
        << "\"node:ssh\" has a port that is none; valid: [user@]host[:1 to 65535]";
    QTest::newRow("port 0")
        << "node:0"
        << "\"node:0\" has a port that is none; valid: [user@]host[:1 to 65535]";
    QTest::newRow("no host") << "ann@"
                             << "\"ann@\" names no host; valid: [user@]host[:port]";
    QTest::newRow("no user") << "@node"
                             << "\"@node\" has no user before the @";
    QTest::newRow("option") << "-oProxyCommand=x"
                            << "\"-oProxyCommand=x\" names no host; valid: [user@]host[:port]";
    QTest::newRow("bracket") << "[::1"
                             << "\"[::1\" has no ] after the address";
  }
  void hosts_are_parsed() {
    QFETCH(QString, text);
    QFETCH(QString, expected);
    const auto host = parse_host(text.toStdString());
    QCOMPARE(QString::fromStdString(host ? line_of(*host) : host.error().message), expected);
  }

  void a_typed_port_is_known_from_none() {
    QCOMPARE(typed_port("node"), uint16_t(0));
    QCOMPARE(typed_port("ann@node:22"), uint16_t(22));
    QCOMPARE(typed_port("22:22"), uint16_t(22));
    QCOMPARE(typed_port("ann@fe80::22"), uint16_t(0));
    QCOMPARE(typed_port("[fe80::1]:2200"), uint16_t(2200));
  }

  void targets_survive_json() {
    Target target = this_machine();
    QCOMPARE(target_from_json(to_json(target)).value(), target);
    target.name = "cluster";
    target.root = "/scratch/me";
    target.hosts = {*parse_host("ann@a:1"), *parse_host("b")};
    target.hosts[1].jump = "ann@gate";
    target.hosts[1].identity_files = {"~/.ssh/k", "~/.ssh/l"};
    target.hosts[1].host_key_alias = "b.example";
    target.hosts[1].known_hosts = {"~/.ssh/known_b"};
    target.hosts[1].identities_only = true;
    target.hosts[1].certificate_files = {"~/.ssh/k-cert.pub"};
    target.hosts[1].jump_control_path = "/run/me/gate";
    target.hosts[0].control_path = "/run/me/a";
    target.hosts[0].proxy_command = "nc a 1";
    target.accepted_keys = {{"a:1", "SHA256:x"}};
    target.public_addresses = true;
    QCOMPARE(target_from_json(to_json(target)).value(), target);

    // A way that was chosen later takes the place of the config's.
    Host chosen = target.hosts[0];
    go_through(chosen, "gate");
    QCOMPARE(chosen.jump, std::string("gate"));
    QVERIFY(chosen.proxy_command.empty() && chosen.control_path.empty());
    target.hosts[0].jump = "gate";
    QVERIFY(!check(target));
    target.hosts[0].jump.clear();

    // As an older Heddle has saved it.
    const auto older = target_from_json(
        R"({"name": "a", "hosts": [{"address": "a", "identity_file": "~/.ssh/k"}]})");
    QCOMPARE(older.value().hosts[0].identity_files, std::vector<std::string>{"~/.ssh/k"});

    // Another version of it: keys of hosts that stay, a jump's among them, stay as well.
    target.accepted_keys.push_back({"gate:22", "SHA256:y"});
    Target edited = target;
    edited.accepted_keys.clear();
    edited.hosts[0] = *parse_host("ann@elsewhere:1");
    keep_keys(edited, target);
    QCOMPARE(edited.accepted_keys, (std::vector<AcceptedKey>{{"gate:22", "SHA256:y"}}));

    VERIFY_SAYS(target_from_json("{"), "this is not a target");
    VERIFY_SAYS(target_from_json(R"({"name": "x"})"), "hosts");
    VERIFY_SAYS(target_from_json(R"({"name": "a b", "hosts": [{}]})"), "valid names are");
    VERIFY_SAYS(target_from_json(R"({"name": "a", "hosts": []})"), "there is no host in it");
    VERIFY_SAYS(target_from_json(R"({"name": "a", "root": "x", "hosts": [{}]})"),
                "root \"x\" is no folder");
  }

  void hashes_are_remembered_until_the_file_changes() {
    const std::string file = path("hashed");
    std::ofstream(file) << "abc";
    HashCache cache(path("hashes.json"));
    const std::string abc = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
    QCOMPARE(cache.sha256_of(file).value_or(""), abc);
    cache.save();
    const auto time = std::filesystem::last_write_time(file);

    // Other content under the same size and time: only a remembered hash answers "abc".
    std::ofstream(file) << "xyz";
    std::filesystem::last_write_time(file, time);
    QCOMPARE(HashCache(path("hashes.json")).sha256_of(file).value_or(""), abc);
    std::filesystem::last_write_time(file, time + std::chrono::seconds(1));
    QCOMPARE(HashCache(path("hashes.json")).sha256_of(file).value_or(""), sha256("xyz"));
    VERIFY_SAYS(cache.sha256_of(path("none")), "cannot read");
  }

  void without_a_home_no_hash_is_kept() {
    const QByteArray home = qgetenv("HOME"), cache = qgetenv("XDG_CACHE_HOME");
    qunsetenv("HOME");
    qunsetenv("XDG_CACHE_HOME");
    const std::string file = path("homeless");
    std::ofstream(file) << "abc";
    HashCache first;
    QCOMPARE(first.sha256_of(file).value_or(""), sha256("abc"));
    first.save();
    const auto kept = HashCache().known(file);
    qputenv("HOME", home);
    if (!cache.isNull()) qputenv("XDG_CACHE_HOME", cache);
    QCOMPARE(kept, std::optional<std::string>());
  }

  void this_machine_is_a_node() {
    const Target target = this_machine();
    const std::unique_ptr<Node> node = std::move(*remote::connect(target, target.hosts[0]));
    QVERIFY(node->make_folders(path("a/b")));
    QVERIFY(node->put_bytes("0123456789", path("a/file"), 0600));
    const auto pieces = node->read(std::vector<Range>{{path("a/file"), 2, 3},
                                                      {path("a/file"), 8, 100},
                                                      {path("a/file"), 99, 1},
                                                      {path("none"), 0, 1}});
    QCOMPARE(pieces->at(0), std::optional<std::string>("234"));
    QCOMPARE(pieces->at(1), std::optional<std::string>("89"));
    QCOMPARE(pieces->at(2), std::optional<std::string>(""));
    QCOMPARE(pieces->at(3), std::optional<std::string>());

    const Put put{path("a/file"), path("a/copy"), sha256("0123456789"), 0644};
    QVERIFY(node->put_file(put, {}));
    QCOMPARE(read_text(path("a/copy")), std::string("0123456789"));
    VERIFY_SAYS(node->put_file({path("a/file"), path("a/bad"), sha256("x"), 0644}, {}),
                "arrived damaged");

    const auto entries = node->list(path("a"));
    QCOMPARE(entries->size(), size_t{3});
    QCOMPARE(entries->at(0).name, std::string("b"));
    QVERIFY(entries->at(0).folder);
    QCOMPARE(entries->at(2).size, uint64_t{10});
    QVERIFY(node->list(path("none"))->empty());
    QVERIFY(node->remove(path("a")));
    QVERIFY(node->remove(path("a")));
    QVERIFY(!node->stat(path("a"))->has_value());
    QCOMPARE(node->expand("~/x").value_or(""), QDir::homePath().toStdString() + "/x");
    VERIFY_SAYS(node->put_bytes("x", "/proc/none/x", 0600),
                "this-machine: /proc/none/x: cannot be created");
  }
};

HEDDLE_TEST(LocalTest)
#include "local_test.moc"
