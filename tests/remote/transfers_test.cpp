// Uploads that are cut off again and again, and what several hosts are given at once, against real
// sshds behind a line that can be cut. HEDDLE_ALL=1 cuts 50 times.
#include <QtTest>
#include <filesystem>
#include <fstream>

#include "remote/connect.h"
#include "remote/deploy_all.h"
#include "remote/sha256.h"
#include "tests/support/results.h"
#include "tests/support/slow_link.h"
#include "tests/support/sshd.h"
#include "tests/support/test_class.h"

using namespace heddle;
using namespace heddle::remote;

namespace {

/// A chunk: bytes that may be under way. OpenSSH lets a channel send 2 MiB unasked
/// (CHAN_SES_WINDOW_DEFAULT), and Heddle hands over pieces of 256 KiB. No other bytes of a file are
/// sent again: what has arrived is appended at once.
constexpr uint64_t kUnderWay = uint64_t{3} << 20;

std::string random_file(const QTemporaryDir& folder, size_t size) {
  std::string bytes(size, '\0');
  uint64_t state = 7;
  for (char& byte : bytes) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    byte = static_cast<char>(state >> 56);
  }
  std::string path = folder.filePath("random").toStdString();
  std::ofstream(path, std::ios::binary) << bytes;
  return path;
}

}  // namespace

class TransfersTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void initTestCase() {
    if (const std::string missing = test::Sshd::missing(); !missing.empty()) QSKIP(missing.c_str());
    qunsetenv("SSH_AUTH_SOCK");
  }

  void an_upload_that_is_cut_off_goes_on_where_it_was_data() {
    QTest::addColumn<int>("delay_ms");
    QTest::newRow("near") << 0;
    QTest::newRow("far") << 20;
  }
  void an_upload_that_is_cut_off_goes_on_where_it_was() {
    QFETCH(int, delay_ms);
    const int cuts = qEnvironmentVariableIsSet("HEDDLE_ALL") ? 50 : 3;
    constexpr uint64_t kEach = uint64_t{5} << 20;
    QTemporaryDir folder;
    const std::string from =
        random_file(folder, (kEach + (1 << 20)) * static_cast<size_t>(cuts + 1));
    const uint64_t size = std::filesystem::file_size(from);
    const std::string hash = must(sha256_of_file(from));
    const auto sshd = must(test::Sshd::start());
    test::SlowLink link(sshd->port(), std::chrono::milliseconds(delay_ms));
    Target target = sshd->trusted_target();
    target.hosts[0].port = link.port();
    target.accepted_keys[0].endpoint = fmt::format("127.0.0.1:{}", link.port());
    const Put put{from, test::Sshd::home_there() + "/file", hash, 0644};

    uint64_t handed = 0;  // of the file, when the last attempt was cut off
    uint64_t most_again = 0;
    for (int cut = 0; cut < cuts; ++cut) {
      auto node = remote::connect(target, target.hosts[0], sshd->connect_options());
      VERIFY_RESULT(node);
      std::optional<uint64_t> first;
      uint64_t handed_now = 0;
      const auto sent = (*node)->put_file(put, [&](uint64_t done, uint64_t) {
        if (!first) first = done;
        if (handed_now == 0 && done >= *first + kEach) {
          handed_now = done;
          link.cut();
        }
        return true;
      });
      VERIFY_SAYS(sent, "node: the connection is lost");
      QVERIFY2(*first + kUnderWay >= handed,
               fmt::format("{} of {} bytes are sent again", handed - *first, handed).c_str());
      if (handed > *first) most_again = std::max(most_again, handed - *first);
      handed = handed_now;
      node->reset();
    }
    QVERIFY(!std::filesystem::exists(sshd->node_home() + "/file"));
    auto node = remote::connect(target, target.hosts[0], sshd->connect_options());
    VERIFY_RESULT(node);
    std::optional<uint64_t> first;
    VERIFY_RESULT((*node)->put_file(put, [&](uint64_t done, uint64_t) {
      if (!first) first = done;
      return true;
    }));
    QVERIFY(*first + kUnderWay >= handed);
    qInfo("%d cuts: at most %.2f MiB were sent again", cuts,
          static_cast<double>(std::max(most_again, handed - std::min(handed, *first))) / (1 << 20));
    QCOMPARE(must(sha256_of_file(sshd->node_home() + "/file")), hash);
    // With SSH's own bytes, 1 MiB for each connection.
    QVERIFY2(link.sent() <= size + static_cast<uint64_t>(cuts) * (kUnderWay + (1 << 20)),
             fmt::format("{} bytes were sent for {}", link.sent(), size).c_str());
  }

  void bytes_are_compressed_where_the_line_is_slow_data() {
    QTest::addColumn<bool>("compressible");
    QTest::newRow("that get smaller") << true;
    QTest::newRow("that do not") << false;
  }
  void bytes_are_compressed_where_the_line_is_slow() {
    QFETCH(bool, compressible);
    constexpr size_t kSize = 24 << 20;
    QTemporaryDir folder;
    std::string from = random_file(folder, kSize);
    if (compressible) {
      from = folder.filePath("text").toStdString();
      std::ofstream text(from);
      for (uint64_t i = 0, at = 0; at < kSize; ++i) {
        const std::string line = fmt::format("{} threads of the {}th weft\n", i * i, i);
        text << line;
        at += line.size();
      }
    }
    const uint64_t size = std::filesystem::file_size(from);
    const auto sshd = must(test::Sshd::start());
    const test::SlowLink link(sshd->port(), std::chrono::milliseconds(1), 4 << 20);
    Target target = sshd->trusted_target();
    target.hosts[0].port = link.port();
    target.accepted_keys[0].endpoint = fmt::format("127.0.0.1:{}", link.port());
    const auto node = remote::connect(target, target.hosts[0], sshd->connect_options());
    VERIFY_RESULT(node);
    const std::string hash = must(sha256_of_file(from));
    uint64_t last = 0;
    VERIFY_RESULT((*node)->put_file({from, test::Sshd::home_there() + "/file", hash, 0600},
                                    [&](uint64_t done, uint64_t) {
                                      last = done;
                                      return true;
                                    }));
    QCOMPARE(last, size);
    QCOMPARE(must(sha256_of_file(sshd->node_home() + "/file")), hash);
    const uint64_t sent = link.sent();
    QVERIFY2(compressible ? sent < size / 10 * 8 : sent < size / 100 * 102,
             fmt::format("{} bytes were sent for {}", sent, size).c_str());
  }

  // Two hosts, and a third that has the home of the second.
  void several_hosts_get_the_engine_at_once_and_a_home_once() {
    QTemporaryDir cache, folder;
    qputenv("XDG_CACHE_HOME", cache.path().toUtf8());
    const std::string engine = folder.filePath("engine").toStdString();
    std::filesystem::copy_file(QCoreApplication::applicationFilePath().toStdString(), engine);
    const auto one = must(test::Sshd::start());
    const auto two = must(test::Sshd::start());
    std::vector<std::unique_ptr<Node>> owned;
    for (const test::Sshd* host : {one.get(), two.get(), two.get()})
      owned.push_back(host->connected());
    std::vector<Node*> nodes;
    for (const auto& node : owned) nodes.push_back(node.get());
    uint64_t last = 0, total = 0;
    const Progress progress = [&](uint64_t done, uint64_t all) {
      if (done < last) qFatal("progress went back");
      last = done;
      total = std::max(total, all);
      return true;
    };
    const auto deployed = must(deploy_all(nodes, "~/.heddle", engine, progress));
    QCOMPARE(deployed.size(), size_t{3});
    QVERIFY(deployed[0].sent_bytes > 0);
    QCOMPARE(deployed[1].sent_bytes, deployed[0].sent_bytes);
    QCOMPARE(deployed[2].sent_bytes, uint64_t{0});
    QCOMPARE(last, total);
    for (size_t i = 0; i < nodes.size(); ++i) {
      QVERIFY(must(is_deployed(*nodes[i], "~/.heddle", engine)));
      for (const Entry& entry : must(nodes[i]->list("/root/.heddle/blobs")))
        QVERIFY2(!entry.name.ends_with(".part"), entry.name.c_str());
    }
    const auto again = must(deploy_all(nodes, "~/.heddle", engine, [](uint64_t, uint64_t) {
      qFatal("something was sent");
      return true;
    }));
    QCOMPARE(again[0].sent_bytes, uint64_t{0});

    // Where one host fails, the error names it, and the others stop.
    test::SshdOptions small;
    small.home_bytes = 2 << 20;
    const auto full = must(test::Sshd::start(small));
    const auto third = full->connected();
    nodes.push_back(third.get());
    VERIFY_SAYS(deploy_all(nodes, "~/.heddle", engine), "node: the disk of");
  }
};

HEDDLE_TEST(TransfersTest)
#include "transfers_test.moc"
