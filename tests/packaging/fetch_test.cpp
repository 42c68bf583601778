// Fetching LibTorch, with pip's own machinery, from a folder and from an index on loopback.
#include <QDir>
#include <QEventLoop>
#include <QFile>
#include <QProcess>
#include <QTemporaryDir>
#include <QTest>

#include "tests/packaging/range_server.h"
#include "tests/packaging/wheel.h"
#include "tests/support/test_class.h"

using namespace heddle;

namespace {

constexpr int weight = 3'000'000;

void write(const QString& path, const QByteArray& bytes) {
  QFile file(path);
  QVERIFY2(file.open(QIODevice::WriteOnly), qPrintable(path));
  file.write(bytes);
}

QStringList files_below(const QString& folder) {
  QProcess find;
  find.start("find", {folder, "-type", "f", "-printf", "%P\n"});
  find.waitForFinished();
  QStringList files =
      QString::fromUtf8(find.readAllStandardOutput()).split('\n', Qt::SkipEmptyParts);
  files.sort();
  return files;
}

}  // namespace

class FetchTest : public QObject {
  Q_OBJECT

  QByteArray wheel_;
  QByteArray message_;

  // pip's configuration is the test's alone: nothing of this machine's, nothing from outside.
  int fetch(const QTemporaryDir& folder, const QString& variant, const QString& setting) {
    QProcess python;
    QProcessEnvironment environment;
    environment.insert("PATH", qEnvironmentVariable("PATH"));
    environment.insert("HOME", folder.path());
    environment.insert("PIP_CONFIG_FILE", "/dev/null");
    environment.insert(setting.section('=', 0, 0), setting.section('=', 1));
    if (setting.startsWith("PIP_FIND_LINKS")) environment.insert("PIP_NO_INDEX", "1");
    python.setProcessEnvironment(environment);

    QEventLoop loop;  // the server on loopback answers from this thread
    connect(&python, &QProcess::finished, &loop, &QEventLoop::quit);
    python.start("/usr/bin/python3",
                 {"-E", "-s", "-B", HEDDLE_SOURCE_DIR "/packaging/lib/lay_out.py",
                  folder.filePath("lock"), variant, folder.filePath("libtorch")});
    loop.exec();
    message_ = python.readAllStandardError();
    return python.exitStatus() == QProcess::NormalExit ? python.exitCode() : -1;
  }

 private Q_SLOTS:
  void initTestCase() {
    wheel_ = wheel::make(weight);
    QVERIFY(wheel_.size() > weight);
  }

  void takes_from_a_folder_what_the_lock_names() {
    QTemporaryDir folder;
    write(folder.filePath("lock"), wheel::lock_for(wheel_));
    write(folder.filePath(wheel::file_name), wheel_);

    QCOMPARE(fetch(folder, "cpu", "PIP_FIND_LINKS=" + folder.path()), 0);
    QCOMPARE(files_below(folder.filePath("libtorch")),
             (QStringList{".made-from", "include/ATen/Tensor.h", "lib/libtorch_cpu.so"}));
    QCOMPARE(QFile(folder.filePath("libtorch/lib/libtorch_cpu.so")).size(), weight);
  }

  void does_nothing_when_all_is_there() {
    QTemporaryDir folder;
    write(folder.filePath("lock"), wheel::lock_for(wheel_));
    write(folder.filePath(wheel::file_name), wheel_);
    QCOMPARE(fetch(folder, "cuda", "PIP_FIND_LINKS=" + folder.path()), 0);
    QVERIFY(files_below(folder.filePath("libtorch")).contains("lib/libtorch_cuda.so"));

    // The CUDA build serves the CPU; with no wheel left, only a look can succeed.
    QVERIFY(QFile::remove(folder.filePath(wheel::file_name)));
    QCOMPARE(fetch(folder, "cpu", "PIP_FIND_LINKS=" + folder.path()), 0);
    QCOMPARE(message_, QByteArray());
  }

  void makes_it_anew_when_the_lock_changes() {
    QTemporaryDir folder;
    write(folder.filePath("lock"), wheel::lock_for(wheel_));
    write(folder.filePath(wheel::file_name), wheel_);
    QCOMPARE(fetch(folder, "cpu", "PIP_FIND_LINKS=" + folder.path()), 0);
    write(folder.filePath("lock"), wheel::lock_for(wheel_).replace("\"include/\"", "\"headers/\""));

    QCOMPARE(fetch(folder, "cpu", "PIP_FIND_LINKS=" + folder.path()), 0);
    QCOMPARE(files_below(folder.filePath("libtorch")),
             (QStringList{".made-from", "headers/ATen/Tensor.h", "lib/libtorch_cpu.so"}));
  }

  void continues_where_the_connection_was_cut() {
    QTemporaryDir folder;
    write(folder.filePath("lock"), wheel::lock_for(wheel_));
    RangeServer server(wheel::file_name, wheel_);
    server.cut_next_after(2'000'000);

    QCOMPARE(fetch(folder, "cpu", "PIP_INDEX_URL=" + server.index_url()), 0);
    QCOMPARE(server.starts(), (QList<qint64>{0, 2'000'000}));
    QCOMPARE(QFile(folder.filePath("libtorch/lib/libtorch_cpu.so")).size(), weight);
  }

  void continues_what_an_earlier_start_left() {
    QTemporaryDir folder;
    write(folder.filePath("lock"), wheel::lock_for(wheel_));
    QVERIFY(QDir(folder.path()).mkpath("downloads"));
    write(folder.filePath("downloads/" + wheel::file_name + ".part"), wheel_.left(1'234'567));
    RangeServer server(wheel::file_name, wheel_);

    QCOMPARE(fetch(folder, "cpu", "PIP_INDEX_URL=" + server.index_url()), 0);
    QCOMPARE(server.starts(), (QList<qint64>{1'234'567}));
    QVERIFY(!QDir(folder.filePath("downloads")).exists());
  }

  void refuses_a_wrong_checksum() {
    QTemporaryDir folder;
    write(folder.filePath("lock"), wheel::lock_for(wheel_, QByteArray(64, '0')));
    RangeServer server(wheel::file_name, wheel_);

    QCOMPARE(fetch(folder, "cpu", "PIP_INDEX_URL=" + server.index_url()), 1);
    QVERIFY2(message_.contains("the lock file says " + QByteArray(64, '0')), message_);
    QVERIFY(!QDir(folder.filePath("libtorch")).exists());
    QVERIFY2(files_below(folder.filePath("downloads")).isEmpty(), "a damaged download was kept");
  }

  void a_cached_download_is_checked_again() {
    for (const QByteArray& kept : {wheel_.left(1000), QByteArray(wheel_.size(), 'x')}) {
      QTemporaryDir folder;
      write(folder.filePath("lock"), wheel::lock_for(wheel_));
      QVERIFY(QDir(folder.path()).mkpath("downloads"));
      write(folder.filePath("downloads/" + wheel::file_name), kept);
      RangeServer server(wheel::file_name, wheel_);

      QCOMPARE(fetch(folder, "cpu", "PIP_INDEX_URL=" + server.index_url()), 0);
      QVERIFY2(message_.contains("this is not ") && message_.contains("it is downloaded again"),
               message_);
      QCOMPARE(server.starts(), QList<qint64>{0});
      QCOMPARE(QFile(folder.filePath("libtorch/lib/libtorch_cpu.so")).size(), weight);
    }
  }

  void a_cached_download_that_is_whole_is_taken() {
    QTemporaryDir folder;
    write(folder.filePath("lock"), wheel::lock_for(wheel_));
    QVERIFY(QDir(folder.path()).mkpath("downloads"));
    write(folder.filePath("downloads/" + wheel::file_name), wheel_);
    RangeServer server(wheel::file_name, wheel_);
    QCOMPARE(fetch(folder, "cpu", "PIP_INDEX_URL=" + server.index_url()), 0);
    QCOMPARE(server.starts(), QList<qint64>{});
  }

  void a_download_ends_at_its_locked_size() {
    QTemporaryDir folder;
    write(folder.filePath("lock"), wheel::lock_for(wheel_));
    RangeServer server(wheel::file_name, wheel_ + QByteArray(5'000'000, 'x'));

    QCOMPARE(fetch(folder, "cpu", "PIP_INDEX_URL=" + server.index_url()), 1);
    const QByteArray bytes = QByteArray::number(wheel_.size());
    QVERIFY2(message_.contains("sends more than the " + bytes + " bytes of the lock file"),
             message_);
    QVERIFY(!QDir(folder.filePath("libtorch")).exists());
    QVERIFY2(files_below(folder.filePath("downloads")).isEmpty(), "what was sent was kept");
  }

  void says_when_no_index_has_it() {
    QTemporaryDir folder;
    write(folder.filePath("lock"), wheel::lock_for(wheel_));

    QCOMPARE(fetch(folder, "cpu", "PIP_FIND_LINKS=" + folder.path()), 1);
    QVERIFY2(message_.contains(wheel::file_name.toUtf8() + ": none of the package indexes"),
             message_);
    QVERIFY(!QDir(folder.filePath("libtorch")).exists());
  }
};

HEDDLE_TEST(FetchTest)
#include "fetch_test.moc"
