// Another person's store in a second window: two real processes of `heddle`. A plug-in looks into
// both (window_probe.cpp). It drops the store on the first window and accepts the offer, or chooses
// the store through "Open another store …".
#include <QDir>
#include <QFile>
#include <QProcess>
#include <QScopeGuard>
#include <QTemporaryDir>
#include <QTest>
#include <csignal>

#include "storage/queries.h"
#include "storage/trust.h"
#include "storage/writer.h"
#include "tests/support/results.h"
#include "tests/support/test_class.h"

using namespace heddle;

class SecondWindowTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void anotherPersonsStoreOpensReadOnly_data() {
    QTest::addColumn<QString>("way");
    QTest::newRow("dropped") << "HEDDLE_PROBE_DROP";
    QTest::newRow("chosen") << "HEDDLE_PROBE_OPEN";
  }

  void anotherPersonsStoreOpensReadOnly() {
    QFETCH(QString, way);
    QVERIFY(QDir(seen()).removeRecursively());
    for (const char* whose : {"theirs", "ours"}) QFile::remove(store(whose));
    makeStore("theirs", "a-run-of-theirs");
    makeStore("ours", "a-run-of-ours");
    QVERIFY(!storage::is_listed(store("theirs").toStdString()));
    const QByteArray before = bytesOf(store("theirs"));

    QProcess first;
    QProcessEnvironment environment = QProcessEnvironment::systemEnvironment();
    environment.insert("QT_QPA_PLATFORM", "offscreen");
    environment.insert("QT_PLUGIN_PATH", HEDDLE_PROBE_FOLDER);
    environment.insert("QT_QPA_GENERIC_PLUGINS", "heddleprobe");
    environment.insert("HEDDLE_PROBE", seen());
    environment.insert(way, store("theirs"));
    first.setProcessEnvironment(environment);
    first.setProcessChannelMode(QProcess::MergedChannels);
    QVERIFY(QDir().mkpath(seen()));
    const auto end = qScopeGuard([&] {
      QFile quit(seen() + "/quit");
      (void)quit.open(QIODevice::WriteOnly);
      first.waitForFinished();
    });
    first.start(QStringLiteral(HEDDLE_BINARY_DIR "/heddle"), {"--store", store("ours")});
    QVERIFY(first.waitForStarted());

    QTRY_VERIFY2_WITH_TIMEOUT(QDir(seen()).entryList(QDir::Files).size() == 2,
                              first.readAll().constData(), 60000);
    // The plug-in writes its report again and again, so a read may find the file empty.
    QTRY_COMPARE(reportOf(QString::number(first.processId())),
                 (QStringList{store("ours"), "writes", "a-run-of-ours"}));
    QString second;
    for (const QString& process : QDir(seen()).entryList(QDir::Files))
      if (process != QString::number(first.processId())) second = process;
    QTRY_COMPARE(reportOf(second), (QStringList{store("theirs"), "only read", "a-run-of-theirs"}));
    QCOMPARE(QFile::symLinkTarget("/proc/" + second + "/exe"),
             QFileInfo(HEDDLE_BINARY_DIR "/heddle").canonicalFilePath());

    // Both end by themselves, and the store is unchanged.
    QVERIFY(QFile(seen() + "/quit").open(QIODevice::WriteOnly));
    QVERIFY(first.waitForFinished());
    QCOMPARE(first.exitCode(), 0);
    QTRY_VERIFY_WITH_TIMEOUT(kill(second.toInt(), 0) != 0, 20000);
    QVERIFY(bytesOf(store("theirs")) == before);
    QVERIFY(!storage::is_listed(store("theirs").toStdString()));
  }

 private:
  QString store(const QString& whose) const { return folder_.filePath(whose + ".sqlite"); }
  QString seen() const { return folder_.filePath("seen"); }

  /// A store made by a person with another home folder.
  void makeStore(const QString& whose, const std::string& name) {
    for (const char* variable : {"HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME"})
      qputenv(variable, folder_.filePath(whose).toUtf8());
    const auto writer = must(storage::Writer::open(store(whose).toStdString()));
    storage::NewRun run;
    run.name = name;
    const auto id = must(writer->create_run(run)).id;
    must(writer->set_state(id, storage::RunState::done, "", 1.0));
  }

  static QByteArray bytesOf(const QString& path) {
    QFile file(path);
    return file.open(QIODevice::ReadOnly) ? file.readAll() : QByteArray();
  }
  QStringList reportOf(const QString& process) const {
    return QString::fromUtf8(bytesOf(seen() + "/" + process)).split('\n', Qt::SkipEmptyParts);
  }

  QTemporaryDir folder_;
};

HEDDLE_TEST(SecondWindowTest)
#include "second_window_test.moc"
