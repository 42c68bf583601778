// A report of two compared runs: one file that needs nothing else, opened in headless Chromium
// where there is one.
#include <QDir>
#include <QFileDialog>
#include <QImage>
#include <QProcess>
#include <QPushButton>
#include <QRegularExpression>
#include <QStandardPaths>

#include "tests/gui/journeys/person.h"
#include "tests/support/sample_window.h"
#include "tests/support/test_class.h"

using namespace heddle;
using namespace heddle::gui;

class SentReportTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void initTestCase() {
    shown_.prepare();
    QVERIFY(QDir::setCurrent(shown_.store.folder.path()));
  }
  void cleanup() { shown_.close(); }

  void a_comparison_is_written_into_one_file() {
    shown_.open({1600, 1000});
    MainWindow& window = *shown_.window;
    const Person person(window);
    Q_EMIT shown_.session->compareRequested({shown_.store.runs.whole, shown_.store.runs.unwrapped});
    QVERIFY(person.isAt(QStringLiteral("Compare")));
    QTimer poll;
    int asked = 0;
    connect(&poll, &QTimer::timeout, this, [&] {
      // It proposes a name in the folder where the program was started.
      auto* dialog = qobject_cast<QFileDialog*>(QApplication::activeModalWidget());
      if (!dialog) return;
      auto* save = named<QPushButton>(dialog, QStringLiteral("Save"));
      if (save && save->isEnabled()) QTest::mouseClick(save, Qt::LeftButton);
      if (++asked > 100) dialog->reject();
    });
    poll.start(50);
    QVERIFY(person.click(QStringLiteral("Report")));
    QTRY_VERIFY(QFile::exists(file_));
    QTRY_VERIFY(text().endsWith("</html>\n"));
  }

  void the_file_needs_nothing_else_and_has_the_comparison() {
    const QString page = text();
    for (const char* words :
         {"shakespeare-auto", "shakespeare-none", "wrapping.mode", "layers.", "data:image/svg+xml"})
      QVERIFY2(page.contains(QLatin1String(words)), words);
    static const QRegularExpression fetched(
        QStringLiteral("(src|href)=\"(?!data:|#)|<script|@import|url\\((?!data:)"));
    const auto found = fetched.match(page);
    QVERIFY2(!found.hasMatch(), qPrintable(found.captured()));
  }

  void a_browser_shows_it() {
    QString browser;
    for (const char* name : {"chromium", "chromium-browser", "google-chrome"})
      if (browser.isEmpty()) browser = QStandardPaths::findExecutable(QString::fromLatin1(name));
    if (browser.isEmpty()) QSKIP("Chromium is not installed");
    const QString picture = shown_.store.folder.filePath(QStringLiteral("report.png"));
    QProcess process;
    process.start(browser,
                  {QStringLiteral("--headless"), QStringLiteral("--no-sandbox"),
                   QStringLiteral("--disable-gpu"), QStringLiteral("--hide-scrollbars"),
                   QStringLiteral("--window-size=1000,3000"),
                   QStringLiteral("--user-data-dir=") + shown_.store.folder.filePath("chromium"),
                   QStringLiteral("--screenshot=") + picture, QStringLiteral("file://") + file_});
    QVERIFY(process.waitForFinished(60000));
    const QImage shown(picture);
    QVERIFY2(!shown.isNull(), process.readAllStandardError().constData());
    QSet<QRgb> colors;
    for (int y = 0; y < shown.height(); y += 3)
      for (int x = 0; x < shown.width(); x += 3) colors << shown.pixel(x, y);
    QVERIFY2(colors.size() > 20, "the page is empty");  // texts, curves and timelines
  }

 private:
  QString text() const {
    QFile file(file_);
    return file.open(QIODevice::ReadOnly) ? QString::fromUtf8(file.readAll()) : QString();
  }

  SampleWindow shown_;
  QString file_ = shown_.store.folder.filePath(QStringLiteral("comparison.html"));
};

HEDDLE_WIDGET_TEST(SentReportTest)
#include "sent_report_test.moc"
