// The engine's bundle on a node that has none of its libraries.
#include "remote/deploy.h"

#include <QtTest>
#include <filesystem>
#include <fstream>
#include <future>
#include <set>
#include <sstream>

#include "remote/bundle.h"
#include "remote/connect.h"
#include "remote/probe.h"
#include "tests/support/sshd.h"
#include "tests/support/test_class.h"

using namespace heddle;
using namespace heddle::remote;

namespace {

const std::string kProgram = HEDDLE_TORCH_PROGRAM;

/// A smaller one: this test, in a folder without libheddle_torch.so.
std::string itself() {
  static const QTemporaryDir folder;
  const std::string copy = folder.filePath("itself").toStdString();
  std::filesystem::copy_file(QCoreApplication::applicationFilePath().toStdString(), copy,
                             std::filesystem::copy_options::skip_existing);
  return copy;
}

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

  void the_node_is_bare() {
    QCOMPARE(said(*node_, {"find", "/root", "-mindepth", "1"}), std::string());
    QCOMPARE(said(*node_, {"find", "/usr", "/root", "/tmp", "-name", "libtorch*"}), std::string());
    QVERIFY(!*node_->stat(HEDDLE_SOURCE_DIR));
    QVERIFY(!*node_->stat(HEDDLE_BINARY_DIR));
  }

  void the_program_runs_from_its_own_libraries() {
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

  void the_second_time_nothing_is_sent() {
    const auto again = deploy(*node_, "~/.heddle", kProgram, [](uint64_t, uint64_t) {
      qFatal("something was sent");
      return true;
    });
    QVERIFY(again);
    QCOMPARE(again->sent_bytes, uint64_t{0});
  }

  void a_new_engine_sends_only_what_is_new() {
    QTemporaryDir folder;
    const std::string other = folder.path().toStdString() + "/engine";
    std::filesystem::copy_file(kProgram, other);
    std::ofstream(other, std::ios::app) << "another build";
    const auto deployed = deploy(*node_, "~/.heddle", other);
    QVERIFY2(deployed, deployed ? "" : deployed.error().message.c_str());
    QCOMPARE(deployed->sent_bytes, std::filesystem::file_size(other));
  }

  void a_stopped_deploy_goes_on_where_it_was() {
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
    // Bytes still under way when the connection is cut may arrive, or not.
    QVERIFY2(deployed->sent_bytes <= whole - kept, "what lay there was sent again");
  }

  void what_is_damaged_is_replaced_data() {
    QTest::addColumn<QString>("damage");
    // In the engine's folder; $blob is the file behind lib/libc.so.6.
    const std::pair<const char*, const char*> damages[] = {
        {"a byte more", "printf x >> $blob"},
        {"a byte less", "truncate -s -1 $blob"},
        {"empty", ": > $blob"},
        {"a byte changed", "printf x | dd of=$blob bs=1 seek=4096 conv=notrunc"},
        {"a byte changed, its time set back",
         "t=$(stat -c %y $blob); printf x | dd of=$blob bs=1 seek=4096 conv=notrunc; touch -d "
         "\"$t\" $blob"},
        {"another file of that size and time",
         "head -c $(stat -c %s $blob) /dev/zero > /tmp/x; touch -r $blob /tmp/x; mv -f /tmp/x "
         "$blob"},
        {"gone", "rm $blob"},
        {"all gone", "rm -r ../../blobs"},
        {"a link", "mv $blob /tmp/x; ln -s /tmp/x $blob"},
        {"a folder", "rm $blob; mkdir $blob"},
        {"unreadable", "chmod 0 $blob"},
        {"the engine's own", "printf x >> $(readlink -f bin/heddle-engine)"},
        {"the loader", "printf x >> $(readlink -f lib/ld-linux*)"},
        {"a link that leads elsewhere", "ln -sf /bin/false bin/heddle-engine"},
        {"a library more", "cp $blob lib/libpreload.so"},
        {"the wrapper", "printf '#!/bin/sh\\nexit 0\\n' > heddle-engine"},
        {"the manifest", "sed -i 1d manifest"},
        {"no stamp", "rm stamp"},
        {"another stamp", "echo whole > stamp"},
        {"half of it", "rm -r lib stamp"},
        {"an earlier attempt's part",
         "rm -r ../*; printf x > $blob.0123456789abcdef.part; rm $blob"},
    };
    for (const auto& [name, damage] : damages) QTest::newRow(name) << QString(damage);
  }
  void what_is_damaged_is_replaced() {
    QFETCH(QString, damage);
    const auto first = deploy(*node_, "~/.heddle", "/bin/true");
    QVERIFY2(first, first ? "" : first.error().message.c_str());
    const std::string folder = first->engine.substr(0, first->engine.rfind('/'));
    const auto damaged =
        node_->run({.argv = {"/bin/sh", "-c",
                             "cd " + folder + " && blob=$(readlink -f lib/libc.so.6) && { " +
                                 damage.toStdString() + "; }"}});
    QVERIFY(damaged);
    QVERIFY2(damaged->exit_code == 0, damaged->err.c_str());
    const auto again = deploy(*node_, "~/.heddle", "/bin/true");
    QVERIFY2(again, again ? "" : again.error().message.c_str());
    QCOMPARE(said(*node_, {"/bin/sh", "-c",
                           "cd " + folder +
                               " && sha256sum --quiet -c manifest && "
                               "[ ! -e lib/libpreload.so ] && " +
                               again->engine + " --help | head -c 5"}),
             std::string("Usage"));
    // And is left alone from then on.
    const auto third = deploy(*node_, "~/.heddle", "/bin/true");
    QVERIFY(third);
    QCOMPARE(third->sent_bytes, uint64_t(0));
  }

  // HEDDLE_ALL=1: 20 pairs.
  void two_deployments_at_once_both_succeed() {
    const auto other = sshd_->connected();
    QVERIFY(other);
    const int pairs = qEnvironmentVariableIsSet("HEDDLE_ALL") ? 20 : 8;
    for (int pair = 0; pair < pairs; ++pair) {
      QVERIFY(purge(*node_, "~/.heddle"));
      const auto bring = [](Node* node) { return deploy(*node, "~/.heddle", "/bin/true"); };
      auto one = std::async(std::launch::async, bring, node_.get());
      auto two = std::async(std::launch::async, bring, other.get());
      for (auto* deployed : {&one, &two}) {
        const auto done = deployed->get();
        QVERIFY2(done, done ? "" : done.error().message.c_str());
        QVERIFY(said(*node_, {done->engine, "--help"}).starts_with("Usage"));
      }
      QCOMPARE(said(*node_, {"find", sshd_->home_there() + "/.heddle", "-name", "*.part"}),
               std::string());
    }
  }

  void a_root_of_somebody_else_is_refused() {
    const auto refused = [&](const std::string& script) {
      QVERIFY(node_->run_checked({.argv = {"/bin/sh", "-c", "umask 022; cd; " + script}}));
      const auto deployed = deploy(*node_, "~/other", "/bin/true");
      QVERIFY(!deployed);
      const std::string& message = deployed.error().message;
      QVERIFY2(
          message.find("node: others can write to ") == 0 ||
              message.find(" belongs to nobody, who could put other programs") != std::string::npos,
          message.c_str());
      QVERIFY(node_->run_checked({.argv = {"/bin/sh", "-c", "cd; rm -rf other mine /tmp/theirs"}}));
    };
    refused("mkdir /tmp/theirs; chown nobody /tmp/theirs; ln -s /tmp/theirs other");
    refused("mkdir -m 775 other");
    refused(
        "mkdir -m 777 /tmp/theirs; mkdir mine; ln -s \"$HOME/mine\" /tmp/theirs/on; "
        "ln -s /tmp/theirs/on other");
    refused("mkdir -p other/blobs; chmod 777 other/blobs");
    refused(
        "mkdir -p other /tmp/theirs; chown nobody /tmp/theirs; ln -s /tmp/theirs other/engines");
  }

  void what_was_interrupted_long_ago_is_removed() {
    const auto first = deploy(*node_, "~/.heddle", "/bin/true");
    QVERIFY2(first, first ? "" : first.error().message.c_str());
    const std::string folder = first->engine.substr(0, first->engine.rfind('/'));
    said(*node_, {"/bin/sh", "-c",
                  "cd ~/.heddle && mkdir engines/a.old engines/a.part && : > blobs/a.part && "
                  "touch -d '2 days ago' engines/a.* blobs/a.part && : > blobs/new.part && rm " +
                      folder + "/stamp"});
    const auto again = deploy(*node_, "~/.heddle", "/bin/true");
    QVERIFY2(again, again ? "" : again.error().message.c_str());
    QCOMPARE(said(*node_, {"/bin/sh", "-c",
                           "cd ~/.heddle && find . -name '*.part' -o -name '*.old'; "
                           "rm blobs/new.part"}),
             std::string("./blobs/new.part\n"));
  }

  void a_program_that_is_none_is_not_left_there() {
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

  void a_node_that_cannot_run_it_says_so() {
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

  void a_full_disk_is_named_before_anything_is_sent() {
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
HEDDLE_TEST(DeployTest)
#include "deploy_test.moc"
