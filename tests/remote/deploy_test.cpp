// The engine's bundle on a node that has none of its libraries.
#include "remote/deploy.h"

#include <QtTest>
#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>

#include "remote/bundle.h"
#include "remote/connect.h"
#include "remote/probe.h"
#include "tests/support/sshd.h"

using namespace heddle;
using namespace heddle::remote;

namespace {

const std::string kProgram = HEDDLE_TORCH_PROGRAM;

/// A smaller one: this test.
std::string itself() { return QCoreApplication::applicationFilePath().toStdString(); }

std::string said(Node& node, const std::vector<std::string>& argv) {
  Command command;
  command.argv = argv;
  const auto out = node.run_checked(command);
  if (!out) qWarning("%s", out.error().message.c_str());
  return out.value_or("");
}

/// The files that a process listed in its /proc/self/maps.
std::set<std::string> files_of(const std::string& maps) {
  std::set<std::string> files;
  std::istringstream lines(maps);
  for (std::string line; std::getline(lines, line);) {
    const size_t slash = line.find('/');
    if (slash != std::string::npos) files.insert(line.substr(slash));
  }
  return files;
}

}  // namespace

class DeployTest : public QObject {
  Q_OBJECT

  QTemporaryDir cache_;
  std::unique_ptr<test::Sshd> sshd_;
  std::unique_ptr<Node> node_;

 private Q_SLOTS:
  void initTestCase() {
    const std::string missing = test::Sshd::missing();
    if (!missing.empty()) QSKIP(missing.c_str());
    qputenv("XDG_CACHE_HOME", cache_.path().toUtf8());
    auto started = test::Sshd::start();
    QVERIFY2(started, started ? "" : started.error().message.c_str());
    sshd_ = std::move(*started);
    node_ = sshd_->connected();
    QVERIFY(node_);
  }

  void theNodeIsBare() {
    QCOMPARE(said(*node_, {"find", "/root", "-mindepth", "1"}), std::string());
    QCOMPARE(said(*node_, {"find", "/usr", "/root", "/tmp", "-name", "libtorch*"}), std::string());
    QVERIFY(!*node_->stat(HEDDLE_SOURCE_DIR));
    QVERIFY(!*node_->stat(HEDDLE_BINARY_DIR));
  }

  void theProgramRunsFromItsOwnLibraries() {
    uint64_t last = 0;
    uint64_t total = 0;
    const auto deployed = deploy(*node_, "~/.heddle", kProgram, [&](uint64_t done, uint64_t all) {
      if (done < last) qFatal("progress went back");
      last = done;
      total = all;
      return true;
    });
    QVERIFY2(deployed, deployed ? "" : deployed.error().message.c_str());
    QCOMPARE(last, total);
    QCOMPARE(deployed->sent_bytes, total);
    qInfo("sent %.0f MB", static_cast<double>(total) / 1e6);

    const std::set<std::string> files = files_of(said(*node_, {deployed->engine, "maps"}));
    QVERIFY(!files.empty());
    for (const std::string& file : files) {
      QVERIFY2(file.starts_with(sshd_->home_there() + "/.heddle/"), file.c_str());
    }
    const std::string folder = deployed->engine.substr(0, deployed->engine.rfind('/'));
    for (const char* name : {"libtorch_cpu.so", "libc.so.6", "libstdc++.so.6"}) {
      std::string file = said(*node_, {"readlink", "-f", folder + "/lib/" + name});
      file.pop_back();
      QVERIFY2(files.contains(file), name);
    }
  }

  void theSecondTimeNothingIsSent() {
    const auto again = deploy(*node_, "~/.heddle", kProgram, [](uint64_t, uint64_t) {
      qFatal("something was sent");
      return true;
    });
    QVERIFY(again);
    QCOMPARE(again->sent_bytes, uint64_t{0});
  }

  void aNewEngineSendsOnlyWhatIsNew() {
    QTemporaryDir folder;
    const std::string other = folder.path().toStdString() + "/engine";
    std::filesystem::copy_file(kProgram, other);
    std::ofstream(other, std::ios::app) << "another build";
    const auto deployed = deploy(*node_, "~/.heddle", other);
    QVERIFY2(deployed, deployed ? "" : deployed.error().message.c_str());
    QCOMPARE(deployed->sent_bytes, std::filesystem::file_size(other));
  }

  void aStoppedDeployGoesOnWhereItWas() {
    QVERIFY(purge(*node_, "~/.heddle"));
    const auto stopped = deploy(*node_, "~/.heddle", itself(),
                                [](uint64_t done, uint64_t) { return done < 10'000'000; });
    QVERIFY(!stopped);
    QVERIFY2(stopped.error().message.find("stopped") != std::string::npos,
             stopped.error().message.c_str());
    uint64_t whole = 0, kept = 0;
    const auto bundle = bundle_of(itself());
    QVERIFY(bundle);
    for (const BundleFile& file : bundle->files) whole += file.size;
    const auto blobs = node_->list(sshd_->home_there() + "/.heddle/blobs");
    QVERIFY(blobs);
    for (const auto& blob : *blobs) kept += blob.size;
    QVERIFY(kept > 0);
    const auto deployed = deploy(*node_, "~/.heddle", itself());
    QVERIFY2(deployed, deployed ? "" : deployed.error().message.c_str());
    // What is still under way when the connection is cut may arrive, or not.
    QVERIFY2(deployed->sent_bytes <= whole - kept, "what lay there was sent again");
  }

  void aProgramThatIsNoneIsNotLeftThere() {
    QTemporaryDir folder;
    const std::string script = folder.path().toStdString() + "/engine";
    std::ofstream(script) << "#!/bin/sh\n";
    std::filesystem::permissions(script, std::filesystem::perms(0755));
    const size_t before = node_->list(sshd_->home_there() + "/.heddle/engines")->size();
    const auto deployed = deploy(*node_, "~/.heddle", script);
    QVERIFY(!deployed);
    const std::string& message = deployed.error().message;
    QVERIFY2(message.find("does not start") != std::string::npos, message.c_str());
    QCOMPARE(node_->list(sshd_->home_there() + "/.heddle/engines")->size(), before);
  }

  void aNodeThatCannotRunItSaysSo() {
    test::SshdOptions options;
    options.home_bytes = 300 << 20;
    options.home_noexec = true;
    auto strict = test::Sshd::start(options);
    QVERIFY(strict);
    const auto node = (*strict)->connected();
    QVERIFY(node);
    const auto deployed = deploy(*node, "~/.heddle", itself());
    QVERIFY(!deployed);
    const std::string& message = deployed.error().message;
    QVERIFY2(message.find("node: the engine was brought there but does not start") == 0,
             message.c_str());
    QVERIFY2(message.find("noexec") != std::string::npos, message.c_str());
    QVERIFY(node->list(sshd_->home_there() + "/.heddle/engines")->empty());

    const auto report = probe_node(*node, "~/.heddle");
    QVERIFY(report);
    QCOMPARE(report->worst(), probe::Status::fail);
    QVERIFY(probe::to_text(*report).find("(noexec)") != std::string::npos);
  }

  void aFullDiskIsNamedBeforeAnythingIsSent() {
    test::SshdOptions options;
    options.home_bytes = 20 << 20;
    auto small = test::Sshd::start(options);
    QVERIFY(small);
    const auto node = (*small)->connected();
    QVERIFY(node);
    const auto deployed = deploy(*node, "~/.heddle", kProgram);
    QVERIFY(!deployed);
    const std::string& message = deployed.error().message;
    QVERIFY2(message.find("node: the disk of " + sshd_->home_there() +
                          "/.heddle/blobs is too full") == 0,
             message.c_str());
  }
};

// The copy on the node is only asked for its help.
QTEST_GUILESS_MAIN(DeployTest)
#include "deploy_test.moc"
