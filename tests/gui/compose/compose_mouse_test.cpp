// A recipe from nothing to the 405B in four dimensions, by mouse alone: nothing here presses a key
// or calls the document.
#include <QAbstractItemView>
#include <QApplication>
#include <QComboBox>
#include <QDir>
#include <QFile>
#include <QFileDialog>
#include <QLabel>
#include <QLineEdit>
#include <QListView>
#include <QMenu>
#include <QPushButton>
#include <QScrollArea>
#include <QScrollBar>
#include <QSpinBox>
#include <QTemporaryDir>
#include <QTest>
#include <QTimer>
#include <QToolButton>
#include <QTreeView>

#include "gui/session.h"
#include "gui/theme/theme.h"
#include "gui/views/compose/bucket_bands.h"
#include "gui/views/compose/compose_page.h"
#include "gui/views/compose/layer_strip.h"
#include "tests/support/test_class.h"

using namespace heddle::gui;

class ComposeMouseTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void initTestCase() {
    Theme::install(Theme::Mode::dark);
    QApplication::setDoubleClickInterval(0);  // a click is never the second of two
    qputenv("HOME", home_.path().toLocal8Bit());
    write("corpus.txt", "text");
    QVERIFY(QFile::copy(HEDDLE_SOURCE_DIR "/resources/data/tokenizer.json",
                        home_.filePath("tokenizer.json")));
  }

  void from_nothing_to_the_405b_in_four_dimensions() {
    Session session(home_.filePath("store.sqlite"));
    ComposePage page(session);
    page_ = &page;
    page.resize(1536, 924);
    page.show();
    page.activated();
    QVERIFY(QTest::qWaitForWindowActive(&page));
    QWidget* header = page.headerWidget();
    header->setParent(nullptr);  // as the window takes it
    header->show();
    const std::unique_ptr<QWidget> owned(header);

    pickFromMenu(find<QToolButton>(header, "recipes"), "New recipe");
    QVERIFY(page.document().text().isEmpty());

    pick("model.preset", "llama3-405b");
    chooseFile("data.text", "corpus.txt");
    chooseFile("data.tokenizer", "tokenizer.json");
    up("data.seq_len", 4);
    up("training.local_batch", 4);
    pick("hardware.name", "h100-sxm");
    up("hardware.ranks", 8);
    pick("hardware.device", "cuda");
    up("parallelism.tp", 3);
    up("parallelism.pp", 3);
    up("parallelism.cp", 1);
    pick("precision.param", "bf16, masters in fp32");
    QVERIFY2(page.document().faults().empty(), qPrintable(faults()));
    QCOMPARE(find<QLabel>(&page, "product")->text(), QString("8·1·4·2·8 = 512 ranks ✓"));

    twoLayersABucket();
    chooseLayers(0, 15);
    click(page.findChild<QToolButton*>("recompute:full"));
    QVERIFY2(page.document().faults().empty(), qPrintable(faults()));

    const QString composed = page.document().text();
    const QStringList lines = portable(composed).split('\n'), wanted = fixture().split('\n');
    for (qsizetype i = 0; i < std::min(lines.size(), wanted.size()); ++i)
      QCOMPARE(lines[i], wanted[i]);
    QCOMPARE(lines.size(), wanted.size());

    auto* undo = button(header, "undo");
    auto* redo = button(header, "redo");
    int edits = 0;
    for (; undo->isEnabled(); ++edits) click(undo);
    QVERIFY(edits > 60);
    QVERIFY(page.document().text().isEmpty());
    for (; redo->isEnabled(); --edits) click(redo);
    QCOMPARE(edits, 0);
    QCOMPARE(page.document().text(), composed);
  }

 private:
  template <typename T>
  static T* find(QWidget* where, const char* name) {
    T* found = where->findChild<T*>(QString::fromLatin1(name));
    if (found == nullptr) qFatal("there is no %s", name);
    return found;
  }

  static QToolButton* button(QWidget* where, const char* action) {
    for (auto* each : where->findChildren<QToolButton*>())
      if (each->defaultAction() != nullptr && each->defaultAction()->objectName() == action)
        return each;
    qFatal("there is no button %s", action);
  }

  void write(const char* name, const char* text) const {
    QFile file(home_.filePath(name));
    QVERIFY(file.open(QIODevice::WriteOnly));
    file.write(text);
  }

  QString faults() const {
    QStringList all;
    for (const auto& fault : page_->document().faults()) all << QString::fromStdString(fault.str());
    return all.join('\n');
  }

  QString portable(QString text) const { return text.replace(home_.path(), "HOME"); }

  static QString fixture() {
    QFile file(HEDDLE_SOURCE_DIR "/tests/gui/compose/composed-405b.toml");
    return file.open(QIODevice::ReadOnly) ? QString::fromUtf8(file.readAll()) : QString();
  }

  /// Scrolls until it can be hit, as a wheel does.
  static void bringIntoSight(QWidget* widget, const QPoint& at) {
    for (QWidget* up = widget->parentWidget(); up != nullptr; up = up->parentWidget())
      if (auto* area = qobject_cast<QScrollArea*>(up)) {
        const QPoint place = widget->mapTo(area->widget(), at);
        area->ensureVisible(place.x(), place.y(), 0, 60);
      }
    QCoreApplication::processEvents();
    QVERIFY2(widget->visibleRegion().contains(at), qPrintable(widget->objectName()));
  }

  static void click(QWidget* widget, const QPoint& at) {
    bringIntoSight(widget, at);
    QTest::mouseClick(widget, Qt::LeftButton, {}, at);
  }
  static void click(QWidget* widget) { click(widget, widget->rect().center()); }

  void up(const char* key, int times) {
    auto* box = find<QAbstractSpinBox>(page_, key);
    for (int i = 0; i < times; ++i) click(box, QPoint(box->width() - 8, 7));
  }

  void pick(const char* key, const QString& words) {
    auto* combo = find<QComboBox>(page_, key);
    click(combo);
    QAbstractItemView* list = combo->view();
    QTRY_VERIFY(list->isVisible());
    const QModelIndex index = combo->model()->index(combo->findText(words), 0);
    QVERIFY2(index.isValid(), qPrintable(words));
    list->scrollTo(index);
    QTest::mouseMove(list->viewport(), list->visualRect(index).center());
    QTest::qWait(1);
    QTest::mouseClick(list->viewport(), Qt::LeftButton, {}, list->visualRect(index).center());
    QTRY_VERIFY(!list->isVisible());
    QCOMPARE(combo->currentText(), words);
  }

  static bool clickAction(QMenu* menu, const QString& words) {
    for (QAction* action : menu->actions()) {
      if (action->text() != words) continue;
      QTest::mouseClick(menu, Qt::LeftButton, {}, menu->actionGeometry(action).center());
      return true;
    }
    return false;
  }

  static void pickFromMenu(QToolButton* button, const QString& words) {
    QTimer::singleShot(10, button, [words] {
      auto* menu = qobject_cast<QMenu*>(QApplication::activePopupWidget());
      QVERIFY(menu);
      QVERIFY(clickAction(menu, words));
    });
    QTest::mouseClick(button, Qt::LeftButton);
  }

  /// The folder of a recipe that was never saved is the home folder.
  void chooseFile(const char* key, const QString& name) {
    auto* line = find<QLineEdit>(page_, key);
    auto* browse = line->findChild<QToolButton*>();
    QTimer poll;
    connect(&poll, &QTimer::timeout, line, [&] {
      if (auto* menu = qobject_cast<QMenu*>(QApplication::activePopupWidget())) {
        clickAction(menu, tr("Files …"));
        return;
      }
      auto* dialog = qobject_cast<QFileDialog*>(QApplication::activeModalWidget());
      if (dialog == nullptr) return;
      QAbstractItemView* list = dialog->findChild<QListView*>("listView");
      if (!list->isVisible()) list = dialog->findChild<QTreeView*>("treeView");
      const QModelIndex root = list->rootIndex();
      for (int row = 0; row < list->model()->rowCount(root); ++row) {
        const QModelIndex file = list->model()->index(row, 0, root);
        if (file.data().toString() != name) continue;
        QTest::mouseClick(list->viewport(), Qt::LeftButton, {}, list->visualRect(file).center());
        for (auto* button : dialog->findChildren<QPushButton*>())
          if (button->isDefault() && button->isEnabled()) QTest::mouseClick(button, Qt::LeftButton);
        return;
      }
    });
    poll.start(30);
    click(browse);
    poll.stop();
    QVERIFY2(line->text().endsWith(name), qPrintable(line->text()));
  }

  /// Every second edge, dragged down until the layer below it is in the bucket above.
  void twoLayersABucket() {
    auto* bands = find<BucketBands>(page_, "buckets");
    for (int bucket = 1; bucket <= 63; ++bucket) {
      QCoreApplication::processEvents();  // one bucket less is laid out
      const QRectF band = bands->bandRect(bucket);
      const QPoint edge(60, static_cast<int>(band.bottom()) + 1);
      bringIntoSight(bands, edge);
      const QPoint below = edge + QPoint(0, static_cast<int>(band.height() / 3) + 1);
      QTest::mousePress(bands, Qt::LeftButton, {}, edge);
      QTest::mouseMove(bands, below);
      QTest::mouseRelease(bands, Qt::LeftButton, {}, below);
    }
  }

  void chooseLayers(int first, int last) {
    auto* strip = find<LayerStrip>(page_, "layerStrip");
    const QPoint from = strip->cellRect(first).center().toPoint();
    const QPoint to = strip->cellRect(last).center().toPoint();
    QTest::mousePress(strip, Qt::LeftButton, {}, from);
    QTest::mouseMove(strip, to);
    QMouseEvent dragged(QEvent::MouseMove, to, strip->mapToGlobal(to), Qt::NoButton, Qt::LeftButton,
                        {});
    QApplication::sendEvent(strip, &dragged);
    QTest::mouseRelease(strip, Qt::LeftButton, {}, to);
  }

  QTemporaryDir home_;
  ComposePage* page_ = nullptr;
};

HEDDLE_WIDGET_TEST(ComposeMouseTest)
#include "compose_mouse_test.moc"
