// Foreign text (causes, names, log lines) is shown as it is: it draws no HTML, loads
// no picture, makes no link.
#include <QApplication>
#include <QDialog>
#include <QLabel>
#include <QTest>
#include <QTimer>
#include <QToolTip>

#include "gui/widgets/basics.h"
#include "gui/widgets/dialog.h"
#include "storage/writer.h"
#include "tests/support/results.h"
#include "tests/support/sample_window.h"
#include "tests/support/test_class.h"

using namespace heddle;
using namespace heddle::gui;

class ForeignTextTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void initTestCase() {
    opened_.prepare();
    const QString picture = opened_.store.folder.filePath(QStringLiteral("picture.png"));
    QPixmap pixmap(64, 64);
    pixmap.fill(Qt::red);
    QVERIFY(pixmap.save(picture));
    words_ =
        QStringLiteral("<img src=\"%1\"><b>bold</b><a href=\"file:///\">link</a>").arg(picture);

    const std::string store = opened_.store.path().toStdString();
    const auto writer = must(storage::Writer::open(store));
    const std::string words = words_.toStdString();
    storage::NewRun run;
    run.name = words;
    run.recipe_name = words;
    run.recipe =
        "[model]\npreset = \""
        "llama3-debug\"\n# " +
        words;
    run.target = words;
    run_ = must(writer->create_run(run)).id;
    must(writer->set_environment(run_, {{"environment.host", words}, {words, 1.0}}));
    must(writer->set_results(run_, {{"remark", words}, {words, 2.0}}));
    must(writer->set_notes(run_, words));
    must(writer->change_tags(run_, {words}));
    must(writer->add_line(run_, {.text = words}));
    must(writer->set_state(run_, storage::RunState::failed, words, 1.0));
    storage::Target target;
    target.name = "lab";
    target.kind = "ssh";
    target.hosts = R"({"name": "lab", "hosts": [{"name": "<b>lab</b>", "address": "<b>lab</b>"}]})";
    must(writer->save_target(target));
  }

  void cleanup() { opened_.close(); }

  void noPageDrawsIt_data() {
    QTest::addColumn<QString>("page");
    QTest::addColumn<bool>("says");  // in labels: the others paint names, or have them in fields
    for (const char* page : {"compose", "launch", "compare", "targets"})
      QTest::newRow(page) << QString::fromLatin1(page) << false;
    for (const char* page : {"live", "runs"})
      QTest::newRow(page) << QString::fromLatin1(page) << true;
  }
  void noPageDrawsIt() {
    QFETCH(QString, page);
    QFETCH(bool, says);
    opened_.open({1600, 1000});
    MainWindow& window = *opened_.window;
    window.showPage(page);
    if (page == QStringLiteral("compare"))
      window.currentPage()->showRuns({run_, opened_.store.runs.whole});
    else
      window.currentPage()->showRun(run_);
    QTRY_VERIFY_WITH_TIMEOUT(window.isReady(), 30000);
    QTest::qWait(100);
    int asItIs = 0;
    for (const QLabel* label : window.findChildren<QLabel*>()) {
      if (!label->isVisible()) continue;
      QVERIFY2(label->textFormat() != Qt::AutoText, qPrintable(label->text()));
      asItIs += label->text().contains(words_);
      if (label->textFormat() == Qt::PlainText) continue;
      // Labels with links of our own: no picture, and nobody else's link.
      QVERIFY2(!label->text().contains(QStringLiteral("<img")), qPrintable(label->text()));
      QVERIFY2(!label->text().contains(QStringLiteral("file:")), qPrintable(label->text()));
    }
    QCOMPARE(asItIs > 0, says);
  }

  void noMessageDrawsIt() {
    opened_.open();
    const MainWindow& window = *opened_.window;
    Q_EMIT opened_.session->message(words_, Tone::bad);
    int asItIs = 0;
    for (const QLabel* label : window.findChildren<QLabel*>()) {
      if (!label->isVisible() || !label->text().contains(words_)) continue;
      QCOMPARE(label->textFormat(), Qt::PlainText);
      ++asItIs;
    }
    QVERIFY(asItIs > 0);
  }

  void noTooltipDrawsIt() {
    QToolTip::showText(QPoint(10, 10), words_);
    const QLabel* tip = nullptr;
    for (const QWidget* widget : QApplication::topLevelWidgets())
      if (widget->inherits("QTipLabel")) tip = qobject_cast<const QLabel*>(widget);
    QVERIFY(tip);
    QCOMPARE(tip->textFormat(), Qt::PlainText);
    QCOMPARE(tip->text(), words_);
    QToolTip::hideText();
  }

  void noDialogDrawsIt() {
    QDialog window;
    auto* plain = new QLabel(words_, &window);
    auto* chosen = muted(words_);
    chosen->setParent(&window);
    window.show();
    QCOMPARE(plain->textFormat(), Qt::PlainText);
    QCOMPARE(chosen->textFormat(), Qt::PlainText);
    QTimer::singleShot(0, [] {
      QWidget* dialog = QApplication::activeModalWidget();
      QVERIFY(dialog);
      int labels = 0;
      for (const QLabel* label : dialog->findChildren<QLabel*>()) {
        QVERIFY(label->textFormat() == Qt::PlainText);
        ++labels;
      }
      QVERIFY(labels > 0);
      dialog->close();
    });
    QVERIFY(!confirm(&window, words_, words_, words_));
  }

 private:
  SampleWindow opened_;
  QString words_;
  storage::RunId run_ = 0;
};

HEDDLE_WIDGET_TEST(ForeignTextTest)
#include "foreign_text_test.moc"
