// Painted widgets' menu: their values as a table and as text, and their picture.
#include "gui/widgets/picture_menu.h"

#include <QApplication>
#include <QClipboard>
#include <QContextMenuEvent>
#include <QFileDialog>
#include <QLineEdit>
#include <QMenu>
#include <QTableView>
#include <QTemporaryDir>
#include <QTest>
#include <QTimer>

#include "gui/theme/theme.h"
#include "tests/support/test_class.h"

using namespace heddle;
using namespace heddle::gui;

class PictureMenuTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void initTestCase() { Theme::install(Theme::Mode::dark); }

  void init() {
    window_ = std::make_unique<QWidget>();
    window_->resize(300, 200);
    picture_ = new QWidget(window_.get());
    picture_->resize(120, 80);
    setPictureMenu(picture_, [this] {
      return TextTable{"Bars", {"rank", "compute, a step"}, {{"0", "1.50 s"}, {"1", said_}}};
    });
    window_->show();
  }

  void theTableIsOfTheMomentWhenItIsOpened() {
    said_ = "2.50 s";
    choose("Table of values …");
    auto* dialog = window_->findChild<TableDialog*>();
    QVERIFY(dialog);
    const QAbstractItemModel* shown = dialog->findChild<QTableView*>()->model();
    QCOMPARE(shown->rowCount(), 2);
    QCOMPARE(shown->headerData(1, Qt::Horizontal).toString(), QString("compute, a step"));
    QCOMPARE(shown->index(1, 1).data().toString(), QString("2.50 s"));
  }

  void valuesAreCopiedWithTabs() {
    said_ = "2\t\"s\"";
    choose("Copy values");
    QCOMPARE(QGuiApplication::clipboard()->text(),
             QString("rank\tcompute, a step\n0\t1.50 s\n1\t\"2\t\"\"s\"\"\"\n"));
  }

  void thePictureIsCopied() {
    choose("Copy picture");
    QCOMPARE(QGuiApplication::clipboard()->image().size(), picture_->size());
  }

  void aFileHasTheValues() {
    said_ = "2.50 s";
    save("Save as CSV …", "bars.csv");
    QFile file(folder_.filePath("bars.csv"));
    QVERIFY(file.open(QIODevice::ReadOnly));
    QCOMPARE(file.readAll(), QByteArray("rank,\"compute, a step\"\n0,1.50 s\n1,2.50 s\n"));
    save("Save as PNG …", "bars.png");
    QCOMPARE(QImage(folder_.filePath("bars.png")).size(), picture_->size());
  }

 private:
  void choose(const QString& text) {
    QContextMenuEvent asked(QContextMenuEvent::Keyboard, picture_->rect().center(),
                            picture_->mapToGlobal(picture_->rect().center()));
    QApplication::sendEvent(picture_, &asked);
    auto* menu = qobject_cast<QMenu*>(QApplication::activePopupWidget());
    QVERIFY(menu);
    for (QAction* action : menu->actions())
      if (action->text() == text) action->trigger();
    menu->close();
  }

  void save(const QString& text, const QString& name) {
    QTimer poll;
    connect(&poll, &QTimer::timeout, this, [&] {
      auto* dialog = qobject_cast<QFileDialog*>(QApplication::activeModalWidget());
      if (!dialog) return;
      auto* line = dialog->findChild<QLineEdit*>("fileNameEdit");
      if (line->text() != folder_.filePath(name)) return line->setText(folder_.filePath(name));
      for (auto* button : dialog->findChildren<QPushButton*>())
        if (button->isDefault() && button->isEnabled()) return button->click();
    });
    poll.start(30);
    choose(text);
  }

  QTemporaryDir folder_;
  QString said_ = "2.50 s";
  std::unique_ptr<QWidget> window_;
  QWidget* picture_ = nullptr;
};

HEDDLE_WIDGET_TEST(PictureMenuTest)
#include "picture_menu_test.moc"
