// The writer's log on a real disk: sequence numbers, reopening, a disk that is full.
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include <QtTest>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "engine/telemetry/log_writer.h"
#include "tests/engine/telemetry/sample_log.h"
#include "tests/support/test_class.h"

using namespace heddle::telemetry;
namespace fs = std::filesystem;

namespace {

std::string contents(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

}  // namespace

class LogTest : public QObject {
  Q_OBJECT

  QTemporaryDir folder_;
  std::string path(const char* name) const { return folder_.filePath(name).toStdString(); }

 private Q_SLOTS:
  void what_is_appended_is_read() {
    auto writer = LogWriter::open(path("plain.hlog")).value();
    for (const Record& record : sample_records()) QVERIFY(writer.append(record));
    QVERIFY(writer.sync());
    QCOMPARE(writer.next_seq(), uint64_t{6});
    QCOMPARE(contents(writer.path()), joined(sample_frames()));
    QCOMPARE(fs::status(writer.path()).permissions(), fs::perms(0600));
  }

  void reopening_continues_the_numbers() {
    const std::string file = path("again.hlog");
    for (int i = 0; i < 3; ++i) {
      auto writer = LogWriter::open(file).value();
      QCOMPARE(writer.next_seq(), uint64_t(i * 2));
      QVERIFY(writer.append(Log{0, Level::info, "one"}));
      QVERIFY(writer.append(Log{0, Level::info, "two"}));
    }
    const Parsed parsed = parse(contents(file));
    QCOMPARE(parsed.frames.size(), size_t{6});
    QVERIFY(parsed.gaps.empty());
  }

  void after_a_torn_tail_writing_goes_on() {
    const std::string file = path("torn.hlog");
    const std::vector<std::string> frames = sample_frames();
    std::ofstream(file, std::ios::binary) << frames[0] << frames[1].substr(0, 20);
    {
      auto writer = LogWriter::open(file).value();
      QCOMPARE(writer.next_seq(), uint64_t{1});
      QVERIFY(writer.append(sample_records()[1]));
    }
    const Parsed parsed = parse(contents(file));
    QCOMPARE(parsed.frames.size(), size_t{2});
    QCOMPARE(parsed.frames[1].seq, uint64_t{1});
    QCOMPARE(parsed.gaps.size(), size_t{1});
    QCOMPARE(parsed.gaps[0].bytes, uint64_t{20});
  }

  void an_unwritable_log_is_an_error() {
    const auto writer = LogWriter::open(path("no/such/folder.hlog"));
    QVERIFY(!writer);
    QVERIFY(writer.error().message.find("no/such/folder.hlog") != std::string::npos);
  }

  void a_full_disk_is_an_error_and_nothing_written_is_lost() {
    if (geteuid() != 0) QSKIP("mounting a small tmpfs needs root");
    const std::string disk = path("disk");
    fs::create_directory(disk);
    if (mount("tmpfs", disk.c_str(), "tmpfs", 0, "size=64k") != 0) {
      QSKIP("no right to mount a tmpfs here");
    }
    const auto unmount = qScopeGuard([&] { umount2(disk.c_str(), MNT_DETACH); });
    auto writer = LogWriter::open(disk + "/rank-0.0.hlog").value();
    std::ofstream(disk + "/ballast", std::ios::binary) << std::string(20000, 'x');

    const Log line{0, Level::info, std::string(1500, 'y')};
    uint64_t refused = 0;
    for (int i = 0; i < 100; ++i) {
      const auto written = writer.append(line);
      if (written) continue;
      ++refused;
      QVERIFY(written.error().message.find("No space left") != std::string::npos);
    }
    QVERIFY(refused > 0);
    fs::remove(disk + "/ballast");
    QVERIFY(writer.append(line));
    const Parsed parsed = parse(contents(writer.path()));
    QVERIFY(parsed.gaps.empty());
    QCOMPARE(uint64_t{parsed.frames.size()}, writer.next_seq());
    for (size_t i = 0; i < parsed.frames.size(); ++i) QCOMPARE(parsed.frames[i].seq, uint64_t{i});
  }
};

HEDDLE_TEST(LogTest)
#include "log_test.moc"
