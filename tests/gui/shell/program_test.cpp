// `heddle` as a command: without a display, with bad arguments, drawing a page.
#include <QImage>
#include <QProcess>
#include <QTemporaryDir>
#include <QTest>

#include "gui/window/pages.h"
#include "storage/queries.h"
#include "tests/support/sample_runs.h"
#include "tests/support/test_class.h"

using namespace heddle;

class ProgramTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void initTestCase() {
    const auto filled = samples::fill(store().toStdString());
    QVERIFY2(filled, filled ? "" : filled.error().message.c_str());
  }

  void withoutADisplayItSaysWhatGoes() {
    const auto [code, said] = heddle({QStringLiteral("--store"), store()});
    QCOMPARE(code, 2);
    QVERIFY2(said.contains("--demo") && said.contains("heddle runs"), said.constData());
  }

  void unknownArgumentNamesTheValidOnes() {
    const auto [code, said] = heddle({QStringLiteral("rnus")});
    QCOMPARE(code, 2);
    QVERIFY2(said.contains("rnus is no command; valid: "), said.constData());
    QVERIFY2(said.contains("--demo, launch, queue, stop, tail, ") && said.contains(", export, ") &&
                 said.contains(", restore, ") && said.contains(", render"),
             said.constData());
  }

  // As a script gives it whose variable is empty. CLI11 would name the run "--check" and start it.
  void anEmptyValueNeverTakesTheNextWord() {
    for (const QStringList& words :
         {QStringList{"launch", "recipe.toml", "--name=", "--check"},
          QStringList{"launch", "recipe.toml", "--on=", "--check"},
          QStringList{"targets", "add", "lab", "--host=", "--replace"},
          QStringList{"export", "first", "--to=", "--store", store()},
          QStringList{"--store=", "runs"}, QStringList{"render", "runs", "--to=", "x.png"}}) {
      const auto [code, said] = heddle(words);
      QCOMPARE(code, 2);
      QVERIFY2(said.contains("= has no value; valid: --"), said.constData());
    }
  }

  void saysWhichVersionItIs() {
    const auto [code, said] = heddle({QStringLiteral("--version")});
    QVERIFY2(code == 0, said.constData());
    QCOMPARE(heddle({"--store", store(), "--version"}).first, 0);
  }

  void rendersTheWindowAtAScale() {
    const QString file = folder_.filePath(QStringLiteral("runs.png"));
    const auto [code, said] = heddle({"--store", store(), "render", "runs", "--theme", "light",
                                      "--scale", "1.5", "--size", "1200x800", "--to", file});
    QVERIFY2(code == 0, said.constData());
    const QImage picture(file);
    QCOMPARE(picture.size(), QSize(1800, 1200));
    QCOMPARE(picture.pixelColor(4, 900), QColor("#ffffff"));  // the rail
  }

  void renderingOnlyReads() {
    // The lease is what a process takes that follows unfinished runs: the store has one.
    const QString lease = store() + QStringLiteral(".lease");
    QFile::remove(lease);
    for (const gui::PageEntry& page : gui::pages()) {
      const auto [code, said] =
          heddle({"--store", store(), "render", page.name, "--to", folder_.filePath("page.png")});
      QVERIFY2(code == 0, said.constData());
      QVERIFY2(!QFile::exists(lease), page.name);
    }
    auto reader = storage::Reader::open(store().toStdString());
    QVERIFY(reader && reader->targets()->empty());
  }

  void renderRefusesWhatIsNotThere() {
    const auto [code, said] = heddle({"render", "live", "--store", store(), "--run", "no-such-run",
                                      "--to", folder_.filePath(QStringLiteral("no.png"))});
    QCOMPARE(code, 2);
    QVERIFY2(said.contains("--run: no run 'no-such-run' in "), said.constData());
    QCOMPARE(heddle({"render", "nowhere", "--to", "x.png"}).first, 2);
    QCOMPARE(heddle({"render", "runs", "--size", "big", "--to", "x.png"}).first, 2);
  }

  void neverLoadsLibTorch() {
    QProcess process;
    process.start(QStringLiteral("readelf"),
                  {QStringLiteral("-d"), QStringLiteral(HEDDLE_BINARY_DIR "/heddle")});
    QVERIFY(process.waitForFinished());
    const QByteArray libraries = process.readAllStandardOutput();
    QVERIFY(libraries.contains("libQt6Widgets"));
    QVERIFY2(!libraries.contains("torch"), libraries.constData());
  }

 private:
  QString store() const { return folder_.filePath(QStringLiteral("runs.sqlite")); }

  /// Exit code and stderr.
  std::pair<int, QByteArray> heddle(const QStringList& arguments) {
    QProcess process;
    QProcessEnvironment environment = QProcessEnvironment::systemEnvironment();
    for (const char* name : {"DISPLAY", "WAYLAND_DISPLAY", "QT_QPA_PLATFORM"})
      environment.remove(QLatin1String(name));
    environment.insert(QStringLiteral("HOME"), folder_.path());
    environment.insert(QStringLiteral("XDG_CONFIG_HOME"), folder_.path());
    process.setProcessEnvironment(environment);
    process.start(QStringLiteral(HEDDLE_BINARY_DIR "/heddle"), arguments);
    if (!process.waitForFinished(90000)) return {-1, "heddle did not end"};
    return {process.exitStatus() == QProcess::NormalExit ? process.exitCode() : -1,
            process.readAllStandardError()};
  }

  QTemporaryDir folder_;
};

HEDDLE_WIDGET_TEST(ProgramTest)
#include "program_test.moc"
