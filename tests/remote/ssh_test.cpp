// Hosts over SSH, against a real sshd.
#include <QtTest>

#include "remote/connect.h"
#include "tests/support/sshd.h"

using namespace heddle;
using namespace heddle::remote;
using Kind = ConnectError::Kind;

namespace {

std::unique_ptr<Node> connected(const test::Sshd& sshd) {
  auto node =
      remote::connect(sshd.trusted_target(), sshd.target().hosts[0], sshd.connect_options());
  if (!node) {
    qWarning("%s", node.error().message.c_str());
    return nullptr;
  }
  return std::move(*node);
}

}  // namespace

class SshTest : public QObject {
  Q_OBJECT

  std::unique_ptr<test::Sshd> sshd_;

 private Q_SLOTS:
  void initTestCase() {
    const std::string missing = test::Sshd::missing();
    if (!missing.empty()) QSKIP(missing.c_str());
    auto started = test::Sshd::start();
    QVERIFY2(started, started ? "" : started.error().message.c_str());
    sshd_ = std::move(*started);
  }

  void anUnknownHostKeyIsShownAndAcceptedByTheCaller() {
    Target target = sshd_->target();
    const auto refused = remote::connect(target, target.hosts[0], sshd_->connect_options());
    QVERIFY(!refused);
    QCOMPARE(refused.error().kind, Kind::host_key_unknown);
    QCOMPARE(refused.error().key.fingerprint, sshd_->fingerprint());
    target.accepted_keys.push_back(refused.error().key);
    QVERIFY(remote::connect(target, target.hosts[0], sshd_->connect_options()));
  }

  void runs() {
    const auto node = connected(*sshd_);
    QVERIFY(node);
    const std::vector<std::string> torture{"a b",    "",   "'",  "\"",    "$HOME", "`id`", "\\",
                                           "a\nb\n", "*",  "-n", "!",     "é",     ";",    "&",
                                           "#",      "\t", "%s", "{a,b}", "~"};
    Command command;
    command.argv = {"/bin/sh", "-c", "for a; do printf '%s\\0' \"$a\"; done; cat; exit 7", "sh"};
    command.argv.insert(command.argv.end(), torture.begin(), torture.end());
    command.input = "the input\n";
    const auto completed = node->run(command);
    QVERIFY2(completed, completed ? "" : completed.error().message.c_str());
    std::string expected;
    for (const std::string& word : torture) expected += word + '\0';
    QCOMPARE(completed->out, expected + "the input\n");
    QCOMPARE(completed->exit_code, 7);
  }
};

QTEST_GUILESS_MAIN(SshTest)
#include "ssh_test.moc"
