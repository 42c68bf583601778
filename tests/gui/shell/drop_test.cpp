// Files dropped on the window from the desktop: a recipe, runs, a store, several at once, hostile
// ones. By drag and drop events, until the runs are in the store.
#include <sys/stat.h>

#include <QDropEvent>
#include <QFile>
#include <QMimeData>
#include <QSignalSpy>
#include <QTableView>
#include <QTemporaryDir>
#include <QTest>

#include "gui/theme/theme.h"
#include "gui/window/drop_area.h"
#include "gui/window/drop_dialog.h"
#include "gui/window/main_window.h"
#include "storage/store.h"
#include "storage/trust.h"
#include "tests/support/results.h"
#include "tests/support/sample_runs.h"
#include "tests/support/test_class.h"

using namespace heddle;
using namespace heddle::gui;

class DropTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void initTestCase() {
    qputenv("XDG_CONFIG_HOME", folder_.filePath("config").toUtf8());
    qputenv("XDG_DATA_HOME", folder_.filePath("data").toUtf8());
    qputenv("HOME", folder_.path().toUtf8());
    Theme::install(Theme::Mode::dark);
    write("log.csv", "step,loss\n1,4.0\n2,3.5\n");
    write("later.csv", "step,loss\n1,4.1\n2,3.6\n");
  }

  void init() {
    const std::string own = path("own.sqlite").toStdString();
    must(storage::prepare(own));
    QVERIFY(storage::trust(own));
    session_ = std::make_unique<Session>(QString::fromStdString(own));
    window_ = std::make_unique<MainWindow>(*session_);
    window_->resize(1400, 900);
    window_->show();
    window_->activateWindow();
    QVERIFY(QTest::qWaitForWindowActive(window_.get()));
    QTRY_VERIFY(window_->isReady());
  }

  void cleanup() {
    window_.reset();
    session_.reset();
    QFile::remove(path("own.sqlite"));
  }

  void a_recipe_opens_in_compose() {
    const QString recipe = QStringLiteral(HEDDLE_SOURCE_DIR "/resources/recipes/debug.toml");
    QVERIFY(drag({recipe}));
    const auto* hint = window_->findChild<QLabel*>("dropHint");
    QVERIFY(hint->isVisible());
    QCOMPARE(hint->text(), QString("Drop it to open the recipe in Compose"));
    drop({recipe});
    QVERIFY(!hint->isVisible());
    QCOMPARE(page(), QString("compose"));
    QVERIFY(window_->currentPage()->subtitle().contains("debug"));
  }

  void a_picture_is_not_taken() { QVERIFY(!drag({"/tmp/picture.png"})); }

  void logs_are_imported_at_once_from_any_page() {
    window_->showPage("targets");
    QVERIFY(drag({path("log.csv"), path("later.csv")}));
    QCOMPARE(window_->findChild<QLabel*>("dropHint")->text(),
             QString("Drop to import 2 paths into Runs"));
    drop({path("log.csv"), path("later.csv")});
    QTRY_COMPARE(page(), QString("runs"));
    QTRY_COMPARE(rows(), 2);
    QVERIFY(!dialog());
  }

  void of_a_store_the_window_asks_and_merges_it() {
    const samples::SampleStore other;
    QVERIFY(storage::trust(other.path().toStdString()));
    drop({other.path()});
    QTRY_VERIFY(dialog());
    QCOMPARE(rows(), 0);
    QVERIFY(says("store with 5 runs"));
    QTest::keyClick(dialog()->focusWidget(), Qt::Key_Return);
    QTRY_COMPARE_WITH_TIMEOUT(rows(), 4, 20000);  // one of them is still running there
  }

  void a_store_can_have_a_window_of_its_own() {
    const samples::ManyRuns other(3);
    QVERIFY(storage::trust(other.path().toStdString()));
    auto* area = window_->findChild<DropArea*>();
    area->disconnect(SIGNAL(storeWanted(QString)));
    QSignalSpy wanted(area, &DropArea::storeWanted);
    drop({other.path()});
    QTRY_VERIFY(dialog());
    QTest::mouseClick(dialog()->findChild<QPushButton*>("openStore"), Qt::LeftButton);
    QCOMPARE(wanted.count(), 1);
    QCOMPARE(wanted[0][0].toString(), other.path());
    QTRY_VERIFY(!dialog());
  }

  void several_things_are_listed_with_what_becomes_of_each() {
    write("my.toml", "[model]\npreset = \"llama3-debug\"\n");
    write("trace.json", "{\"traceEvents\": []}");
    drop({path("log.csv"), path("my.toml"), path("trace.json"), path("log.csv")});
    QTRY_VERIFY(dialog());
    QVERIFY(says("recipe"));
    QVERIFY(says("traces of other programs are not imported"));
    QCOMPARE(dialog()->findChildren<QPushButton*>("openRecipe").size(), 1);
    // Columns begin at the same place in each line, and no word is cut off.
    QSet<int> names, words;
    for (const auto* each : dialog()->findChild<QWidget*>("told")->findChildren<QLabel*>()) {
      const bool isName = qobject_cast<const ElidedLabel*>(each);
      (isName ? names : words).insert(each->mapTo(dialog(), QPoint()).x());
      if (isName) continue;
      QVERIFY2(each->wordWrap() && each->height() >= each->heightForWidth(each->width()),
               qPrintable(each->text()));
    }
    QCOMPARE(names.size(), 1);
    QCOMPARE(words.size(), 1);
    QTest::mouseClick(dialog()->findChild<QPushButton*>("importDropped"), Qt::LeftButton);
    QTRY_COMPARE(rows(), 1);
    drop({path("log.csv"), path("my.toml")});
    QTRY_VERIFY(dialog());
    QTest::mouseClick(dialog()->findChild<QPushButton*>("openRecipe"), Qt::LeftButton);
    QTRY_COMPARE(page(), QString("compose"));
  }

  void hostile_files_are_refused_in_words_data() {
    QTest::addColumn<QString>("name");
    QTest::addColumn<QString>("words");
    write("empty.sqlite", "");
    write("text.sqlite", "no store at all, only words that are long enough to be looked at");
    write("numbers.csv", "a,b\n1,2\n");
    write("<b>bold\nname.csv", "a,b\n1,2\n");
    write("torn.heddle", QByteArray("SQLite format 3\0", 16) + QByteArray(400, 'x'));
    mkfifo(path("pipe.csv").toUtf8().constData(), 0600);
    QVERIFY(QFile::link(path("nowhere"), path("dangling.csv")));
    QTest::newRow("empty store") << "empty.sqlite"
                                 << "is none of";
    QTest::newRow("words as store") << "text.sqlite"
                                    << "is none of";
    QTest::newRow("torn store") << "torn.heddle"
                                << "is none of";
    QTest::newRow("no loss") << "numbers.csv"
                             << "is none of";
    QTest::newRow("html") << "<b>bold\nname.csv"
                          << "<b>bold\\nname.csv: is none of";
    QTest::newRow("pipe") << "pipe.csv"
                          << "is no file";
    QTest::newRow("dangling link") << "dangling.csv"
                                   << "is not there";
    QTest::newRow("its own store") << "own.sqlite"
                                   << "is the store of this window";
  }
  void hostile_files_are_refused_in_words() {
    QFETCH(QString, name);
    QFETCH(QString, words);
    QSignalSpy said(session_.get(), &Session::message);
    drop({path(name)});
    QTRY_VERIFY(!said.isEmpty());
    QVERIFY2(said.last()[0].toString().contains(words), qPrintable(said.last()[0].toString()));
    QVERIFY(!dialog());
    QVERIFY(window_->findChild<DropArea*>()->isReady());
  }

  void a_store_whose_rows_are_damaged_is_said() {
    const samples::ManyRuns other(20);
    QVERIFY(storage::trust(other.path().toStdString()));
    QFile file(other.path());
    QVERIFY(file.open(QIODevice::ReadWrite));
    for (qint64 at = 4096; at < file.size(); at += 4096) {
      file.seek(at);
      file.write(QByteArray(600, '\xff'));
    }
    file.close();
    QSignalSpy said(session_.get(), &Session::message);
    drop({other.path()});
    QTRY_VERIFY(!said.isEmpty() || dialog());
    QVERIFY(!said.isEmpty() ? said.last()[0].toString().contains("runs.sqlite") : true);
  }

 private:
  QString path(const QString& name) const { return folder_.filePath(name); }
  void write(const QString& name, const QByteArray& bytes) {
    QFile file(path(name));
    QVERIFY(file.open(QIODevice::WriteOnly));
    file.write(bytes);
  }
  static void fill(QMimeData& data, const QStringList& paths) {
    QList<QUrl> urls;
    for (const QString& each : paths) urls << QUrl::fromLocalFile(each);
    data.setUrls(urls);
  }
  /// Whether the window takes the drag.
  bool drag(const QStringList& paths) {
    QMimeData data;
    fill(data, paths);
    QDragEnterEvent enter(QPoint(300, 300), Qt::CopyAction, &data, Qt::LeftButton, {});
    enter.ignore();
    QCoreApplication::sendEvent(window_.get(), &enter);
    return enter.isAccepted();
  }
  void drop(const QStringList& paths) {
    QVERIFY(drag(paths));  // Qt gives a drop to whom it has dragged over
    QMimeData data;
    fill(data, paths);
    QDropEvent event(QPointF(300, 300), Qt::CopyAction, &data, Qt::LeftButton, {});
    QCoreApplication::sendEvent(window_.get(), &event);
  }
  DropDialog* dialog() const { return window_->findChild<DropDialog*>(); }
  bool says(const QString& words) const {
    for (const auto* each : dialog()->findChildren<QLabel*>())
      if (each->text() == words) return true;
    return false;
  }
  QString page() const { return window_->currentPage()->name(); }
  int rows() const {
    return window_->page("runs")->findChild<QTableView*>("runs")->model()->rowCount();
  }

  QTemporaryDir folder_;
  std::unique_ptr<Session> session_;
  std::unique_ptr<MainWindow> window_;
};

HEDDLE_WIDGET_TEST(DropTest)
#include "drop_test.moc"
