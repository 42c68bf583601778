// A host over SSH as a node, against a real sshd.
#include <QtTest>
#include <filesystem>
#include <fstream>

#include "base/process.h"
#include "remote/connect.h"
#include "remote/sha256.h"
#include "tests/support/peak_memory.h"
#include "tests/support/results.h"
#include "tests/support/sshd.h"
#include "tests/support/test_class.h"

using namespace heddle;
using namespace heddle::remote;

namespace {

Command command_of(std::vector<std::string> argv) {
  Command command;
  command.argv = std::move(argv);
  return command;
}

Command shell(const std::string& text) { return command_of({"/bin/sh", "-c", text}); }

/// A file of bytes that do not repeat soon.
std::string file_of(const QTemporaryDir& folder, size_t size) {
  std::string bytes(size, '\0');
  uint64_t state = 1;
  for (char& byte : bytes) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    byte = static_cast<char>(state >> 56);
  }
  const std::string path = folder.path().toStdString() + "/file";
  std::ofstream(path, std::ios::binary) << bytes;
  return path;
}

}  // namespace

// The node's home, as it names it itself.
const std::string kHome = test::Sshd::home_there();

class SshTest : public QObject {
  Q_OBJECT

  std::unique_ptr<test::Sshd> sshd_;
  std::unique_ptr<Node> node_;

  /// Parts that transfers to the home there have left, or are writing.
  std::vector<std::string> parts() const {
    std::vector<std::string> found;
    for (const auto& entry : std::filesystem::directory_iterator(sshd_->node_home()))
      if (entry.path().extension() == ".part") found.push_back(entry.path());
    return found;
  }

 private Q_SLOTS:
  void initTestCase() {
    const std::string missing = test::Sshd::missing();
    if (!missing.empty()) QSKIP(missing.c_str());
    auto started = test::Sshd::start();
    VERIFY_RESULT(started);
    sshd_ = std::move(*started);
    node_ = sshd_->connected();
    QVERIFY(node_);
  }

  void arguments_arrive_as_they_are() {
    const std::vector<std::string> words{
        "a b", "",  "'", "\"", "$HOME", "`id`", "\\",  "a\nb\n", "*",     "-n",  "!",       "é",
        ";",   "&", "#", "\t", "%s",    "~",    "'\n", "\\n",    "{a,b}", "$nl", "\x01\x7f"};
    Command command = shell("for a; do printf '%s\\0' \"$a\"; done; cat; exit 7");
    command.argv.push_back("sh");
    command.argv.insert(command.argv.end(), words.begin(), words.end());
    command.input = std::string("in\0put\n", 7);
    const auto completed = node_->run(command);
    VERIFY_RESULT(completed);
    std::string expected;
    for (const std::string& word : words) expected += word + '\0';
    QCOMPARE(completed->out, expected + command.input);
    QCOMPARE(completed->exit_code, 7);
  }

  // Words without an end: no more is kept than anybody asked for, and what says them is killed.
  void a_program_that_says_too_much_is_stopped() {
    const PeakMemory memory;
    VERIFY_SAYS(node_->run(shell("yes 987654")),
                "node: /bin/sh said more than 16777216 bytes and was stopped");
    VERIFY_SAYS(node_->run(shell("yes 987654 >&2")), "said more than 16777216 bytes");
    qInfo("%.0f MiB", memory.mebibytes());
    QVERIFY(memory.mebibytes() <= 300);
    QVERIFY(node_->connected());
    QTRY_COMPARE_WITH_TIMEOUT(
        node_->run(shell("grep -lz '98[7]654' /proc/[0-9]*/cmdline | wc -l"))->out,
        std::string("0\n"), 10000);
  }

  void both_streams_come_back_whole() {
    const auto completed =
        node_->run(shell("head -c 3000000 /dev/zero & head -c 3000000 /dev/zero >&2; wait"));
    VERIFY_RESULT(completed);
    QCOMPARE(completed->out.size(), size_t{3000000});
    QCOMPARE(completed->err.size(), size_t{3000000});
  }

  void exit_codes_are_the_shells() {
    QCOMPARE(node_->run(shell("kill -9 $$"))->exit_code, 128 + 9);
    QCOMPARE(node_->run(command_of({"no-such-program"}))->exit_code, 127);
    VERIFY_SAYS(node_->run_checked(shell("echo oh no >&2; exit 3")), "exit code 3: oh no");
  }

  void a_program_is_stopped_at_its_deadline() {
    Command command = shell("sleep 987");
    command.deadline = std::chrono::milliseconds(300);
    VERIFY_SAYS(node_->run(command), "did not end within 0.3 s");
    QTRY_COMPARE_WITH_TIMEOUT(
        node_->run(shell("grep -lz '98[7]' /proc/[0-9]*/cmdline | wc -l"))->out, std::string("0\n"),
        10000);
    QVERIFY(node_->connected());
  }

  void files_are_read_from_an_offset() {
    const std::string path = kHome + "/log with spaces";
    const std::string bytes("one\ntwo\0three\n", 14);
    VERIFY_RESULT(node_->put_bytes(bytes, path, 0600));
    const auto pieces = node_->read(std::vector<Range>{
        {path, 0, 4}, {path, 4, 100}, {path, 14, 100}, {path, 999, 5}, {kHome + "/none", 0, 5}});
    VERIFY_RESULT(pieces);
    QCOMPARE(pieces->at(0), std::optional(bytes.substr(0, 4)));
    QCOMPARE(pieces->at(1), std::optional(bytes.substr(4)));
    QCOMPARE(pieces->at(2), std::optional(std::string()));
    QCOMPARE(pieces->at(3), std::optional(std::string()));
    QCOMPARE(pieces->at(4), std::optional<std::string>());
    VERIFY_SAYS(node_->read(kHome + "/none"), "node: no file " + kHome + "/none");
  }

  void a_growing_file_is_followed_byte_for_byte() {
    Command writer = shell(
        "(i=0; while [ $i -lt 2000 ]; do echo \"line $i\"; i=$((i + 1)); done > ~/grows; "
        "touch ~/grown) > /dev/null 2>&1 &");
    VERIFY_RESULT(node_->run(writer));
    std::string all;
    const auto end = [&] { return node_->stat(kHome + "/grown")->has_value(); };
    for (bool last = false; !last;) {
      last = end();
      const auto piece = node_->read(std::vector<Range>{{kHome + "/grows", all.size(), 1 << 20}});
      VERIFY_RESULT(piece);
      all += piece->front().value_or("");
    }
    std::string expected;
    for (int i = 0; i < 2000; ++i) expected += fmt::format("line {}\n", i);
    QCOMPARE(all, expected);
  }

  void folders_are_made_listed_and_removed() {
    VERIFY_RESULT(node_->make_folders(kHome + "/a/b c"));
    const std::vector<std::string> names{"-n", "new\nline", "plain", "sp ace", "é"};
    for (const std::string& name : names) {
      VERIFY_RESULT(node_->put_bytes(name, kHome + "/a/" + name, 0640));
    }
    VERIFY_RESULT(node_->make_folders(kHome + "/blanks"));
    const auto entries = node_->list(kHome + "/a");
    VERIFY_RESULT(entries);
    QCOMPARE(entries->size(), names.size() + 1);
    QCOMPARE(entries->at(0).name, names[0]);
    QCOMPARE(entries->at(1).name, std::string("b c"));
    QVERIFY(entries->at(1).folder);
    QCOMPARE(entries->at(2).name, names[1]);
    QCOMPARE(entries->at(2).size, names[1].size());
    for (const char* name : {" ", "  two blanks", "\ttab", "a\nline", "-n", "blank at the end "}) {
      VERIFY_RESULT(node_->put_bytes("x", kHome + "/blanks/" + name, 0640));
      const auto one = node_->list(kHome + "/blanks");
      VERIFY_RESULT(one);
      QCOMPARE(one->size(), size_t{1});
      QCOMPARE(one->front().name, std::string(name));
      QCOMPARE(node_->stat(kHome + "/blanks/" + name)->value().name, std::string(name));
      VERIFY_RESULT(node_->remove(kHome + "/blanks/" + name));
    }
    QVERIFY(node_->list(kHome + "/none")->empty());
    QCOMPARE(node_->stat(kHome + "/a/plain")->value().size, uint64_t{5});
    QVERIFY(!node_->stat(kHome + "/a/none")->has_value());
    VERIFY_RESULT(node_->remove(kHome + "/a"));
    VERIFY_RESULT(node_->remove(kHome + "/a"));
    QVERIFY(!node_->stat(kHome + "/a")->has_value());
    VERIFY_SAYS(node_->make_folders("/proc/x"), "node: cannot make the folder /proc/x");
    QCOMPARE(node_->expand("~/x").value_or(""), std::string(kHome + "/x"));
    VERIFY_SAYS(node_->expand("x"), "not an absolute path");
  }

  void long_folders_are_listed() {
    const std::string folder = sshd_->node_home() + "/many";
    std::filesystem::create_directory(folder);
    const int count = 30'000;
    for (int i = 0; i < count; ++i)
      std::ofstream(fmt::format("{}/{:064}", folder, i)) << (i == 7 ? "seven" : "");
    const auto entries = node_->list(kHome + "/many");
    VERIFY_RESULT(entries);
    QCOMPARE(entries->size(), size_t{count});
    QCOMPARE(entries->at(7).name, fmt::format("{:064}", 7));
    QCOMPARE(entries->at(7).size, uint64_t{5});
    VERIFY_RESULT(node_->remove(kHome + "/many"));
  }

  void an_upload_goes_on_after_the_host_went_away() {
    QTemporaryDir folder;
    const std::string from = file_of(folder, 50 << 20);
    const std::string hash = *sha256_of_file(from);
    auto node = sshd_->connected();
    const auto cut =
        node->put_file({from, kHome + "/big", hash, 0644}, [&](uint64_t done, uint64_t) {
          if (done > 20 << 20) sshd_->stop();
          return true;
        });
    VERIFY_SAYS(cut, "node: the connection is lost");
    QVERIFY(!node->connected());
    VERIFY_SAYS(node->stat(kHome), "node: the connection is lost");
    QVERIFY(!std::filesystem::exists(sshd_->node_home() + "/big"));
    QCOMPARE(parts().size(), size_t{1});
    const auto kept = std::filesystem::file_size(parts().front());

    VERIFY_RESULT(sshd_->start_again());
    node = sshd_->connected();
    QVERIFY(node);
    std::optional<uint64_t> first;
    const auto sent =
        node->put_file({from, kHome + "/big", hash, 0644}, [&](uint64_t done, uint64_t) {
          if (!first) first = done;
          return true;
        });
    VERIFY_RESULT(sent);
    QVERIFY(kept > 0);
    QCOMPARE(*first, kept);
    QCOMPARE(*sha256_of_file(sshd_->node_home() + "/big"), hash);
    QVERIFY(parts().empty());
    node_ = sshd_->connected();
  }

  void what_arrives_damaged_is_thrown_away() {
    QTemporaryDir folder;
    const std::string from = file_of(folder, 100'000);
    const std::string hash = *sha256_of_file(from);
    const Put other{from, kHome + "/file", *sha256_of_file(file_of(folder, 99'999)), 0644};
    file_of(folder, 100'000);
    VERIFY_SAYS(node_->put_file(other, {}), "it arrived damaged (SHA-256 " + hash);
    QVERIFY(!node_->stat(kHome + "/file")->has_value());
    QVERIFY(parts().empty());

    VERIFY_RESULT(node_->put_bytes("rubbish of an earlier attempt",
                                   kHome + "/file.0123456789abcdef.part", 0644));
    VERIFY_RESULT(node_->put_file({from, kHome + "/file", hash, 0644}, {}));
    QCOMPARE(*sha256_of_file(sshd_->node_home() + "/file"), hash);
    QVERIFY(parts().empty());
  }

  // An earlier attempt's part was of another file, and somebody else starts one there again.
  void a_part_that_somebody_else_writes_is_left_alone() {
    const std::string part = kHome + "/taken.0123456789abcdef.part";
    VERIFY_RESULT(node_->put_bytes("rubbish", part, 0600));
    VERIFY_RESULT(node_->run(
        shell(fmt::format("(while [ -e {0} ]; do :; done; exec 9>> {0}; flock 9; printf half >&9; "
                          "sleep 5) > /dev/null 2>&1 &",
                          part))));
    QTemporaryDir folder;
    const std::string from = file_of(folder, 100'000);
    const std::string hash = *sha256_of_file(from);
    VERIFY_RESULT(node_->put_file({from, kHome + "/taken", hash, 0644}, {}));
    QCOMPARE(*sha256_of_file(sshd_->node_home() + "/taken"), hash);
    QTRY_COMPARE_WITH_TIMEOUT(node_->read(part).value_or(""), std::string("half"), 30000);
    VERIFY_RESULT(node_->remove(part));
  }

  void what_attempts_have_left_goes_with_the_next() {
    const std::string home = sshd_->node_home();
    const auto leave = [&](const std::string& name) { std::ofstream(home + "/" + name) << "left"; };
    leave("swept.0123456789abcdef.part");
    leave("swept.fedcba9876543210.part");
    leave("swept.txt.0123456789abcdef.part");  // of another file
    // Names that Heddle once took are nobody's: whoever plants a link there changes nothing.
    leave("theirs");
    std::filesystem::create_symlink(home + "/theirs", home + "/swept.part");
    VERIFY_RESULT(node_->put_bytes("whole", kHome + "/swept", 0600));
    QCOMPARE(*node_->read(kHome + "/swept"), std::string("whole"));
    QCOMPARE(*node_->read(kHome + "/theirs"), std::string("left"));
    std::vector<std::string> left = parts();
    std::ranges::sort(left);
    QCOMPARE(left, (std::vector<std::string>{home + "/swept.part",
                                             home + "/swept.txt.0123456789abcdef.part"}));
    for (const std::string& part : left) std::filesystem::remove(part);
  }

  void a_full_disk_is_named() {
    test::SshdOptions options;
    options.home_bytes = 8 << 20;
    const auto small = test::Sshd::start(options);
    VERIFY_RESULT(small);
    const auto node = (*small)->connected();
    QVERIFY(node);
    QTemporaryDir folder;
    const std::string from = file_of(folder, 20 << 20);
    const auto sent = node->put_file({from, kHome + "/big", *sha256_of_file(from), 0644}, {});
    VERIFY_SAYS(sent, "node: cannot write " + kHome + "/big: the disk there is full");
    VERIFY_SAYS(node->put_bytes(std::string(9 << 20, 'x'), kHome + "/more", 0644),
                "the disk there is full");
    QVERIFY(node->connected());
  }

  void an_idle_connection_notices_that_the_host_is_gone() {
    const auto sshd = test::Sshd::start();
    VERIFY_RESULT(sshd);
    const auto node = (*sshd)->connected();
    QVERIFY(node);
    QVERIFY(node->connected());
    (*sshd)->stop();
    QTRY_VERIFY_WITH_TIMEOUT(!node->connected(), 30000);
  }

  void a_silent_network_is_noticed() {
    test::SshdOptions options;
    options.own_network = true;
    const auto sshd = test::Sshd::start(options);
    if (!sshd) QSKIP(("no network of its own: " + sshd.error().message).c_str());
    const auto node = (*sshd)->connected();
    QVERIFY(node);
    VERIFY_RESULT((*sshd)->cut_cable());
    Command command = shell("echo there");
    command.deadline = std::chrono::seconds(2);
    VERIFY_SAYS(node->run(command), "node: the host stopped answering");
    QTRY_VERIFY_WITH_TIMEOUT(!node->connected(), 90000);
  }

  void other_login_shells_do_data() {
    QTest::addColumn<QString>("text");
    QTest::addColumn<QString>("complaint");
    QTest::newRow("bash") << "#!/bin/sh\nexec /bin/bash \"$@\"\n"
                          << "";
    for (const char* shell : {"tcsh", "fish", "zsh"})
      QTest::newRow(shell) << QString("#!/bin/sh\nexec /usr/bin/%1 \"$@\"\n").arg(shell) << "";
    QTest::newRow("one that talks")
        << "#!/bin/sh\necho Welcome!\necho Hi >&2\nexec /bin/sh \"$@\"\n"
        << "";
    QTest::newRow("none") << "#!/bin/sh\necho This account is not available.\nexit 1\n"
                          << "the login shell there did not run the command; it said: This account";
  }
  void other_login_shells_do() {
    QFETCH(QString, text);
    QFETCH(QString, complaint);
    const QString program = text.section("exec ", 1).section(' ', 0, 0);
    if (!program.isEmpty() && !QFile::exists(program))
      QSKIP(qPrintable(program + " is not installed"));
    test::SshdOptions options;
    options.login_shell = kHome + "/shell";
    const auto sshd = test::Sshd::start(options);
    VERIFY_RESULT(sshd);
    const std::string file = (*sshd)->node_home() + "/shell";
    std::ofstream(file) << text.toStdString();
    std::filesystem::permissions(file, std::filesystem::perms(0755));
    const Target target = (*sshd)->trusted_target();
    const auto node = remote::connect(target, target.hosts[0], (*sshd)->connect_options());
    if (!complaint.isEmpty()) {
      QVERIFY(!node);
      QVERIFY2(node.error().message.find(complaint.toStdString()) != std::string::npos,
               node.error().message.c_str());
      return;
    }
    QVERIFY(node);
    const auto completed = (*node)->run(command_of({"printf", "%s", "a 'b' $c\nd"}));
    VERIFY_RESULT(completed);
    QCOMPARE(completed->out, std::string("a 'b' $c\nd"));
    QCOMPARE(completed->err, std::string());
  }
};

HEDDLE_TEST(SshTest)
#include "ssh_test.moc"
