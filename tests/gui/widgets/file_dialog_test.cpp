// Dialogs over the folder of an open store: its locks stay, whatever is listed, typed or read.
#include "gui/widgets/file_dialog.h"

#include <fcntl.h>

#include <QAbstractFileIconProvider>
#include <QFileSystemModel>
#include <QHeaderView>
#include <QLineEdit>
#include <QTest>
#include <QToolButton>
#include <QTreeView>

#include "gui/models/text_file.h"
#include "gui/models/tokenizer_size.h"
#include "gui/theme/icons.h"
#include "gui/theme/theme.h"
#include "storage/queries.h"
#include "tests/support/results.h"
#include "tests/support/sample_runs.h"
#include "tests/support/test_class.h"

using namespace heddle;
using namespace heddle::gui;

namespace {

/// A store that this process has open, and a look at its locks.
class OpenStore {
 public:
  OpenStore()
      : reader_(must(storage::Reader::open(store.path().toStdString()))),
        // Never closed: that would drop the locks.
        look_(open(store.path().toUtf8().constData(), O_RDWR | O_CLOEXEC)) {}

  /// Asked of the kernel as another process would: for an open file description, not a process.
  bool isLocked() const {
    struct flock lock {};
    lock.l_type = F_WRLCK;
    lock.l_whence = SEEK_SET;
    return fcntl(look_, F_OFD_GETLK, &lock) == 0 && lock.l_type != F_UNLCK;
  }
  QString path() const { return store.path(); }
  QString folder() const { return store.folder.path(); }

  samples::SampleStore store;

 private:
  storage::Reader reader_;
  int look_;
};

/// Opens the dialog on the folder and goes through it as a person may.
void walk(QFileDialog& dialog, const OpenStore& store) {
  dialog.setViewMode(QFileDialog::Detail);
  dialog.setDirectory(store.folder());
  dialog.show();
  auto* model = dialog.findChild<QFileSystemModel*>();
  QVERIFY(model);
  // The type appears once all of a file was read.
  const auto typed = [&] {
    const QModelIndex index = model->index(store.path(), 2);
    return index.isValid() && !index.data().toString().isEmpty();
  };
  QTRY_VERIFY(typed());
  auto* name = dialog.findChild<QLineEdit*>(QStringLiteral("fileNameEdit"));
  QVERIFY(name);
  name->setFocus();
  name->clear();
  QTest::keyClicks(name, store.folder() + QStringLiteral("/run"));
  QTest::qWait(200);  // for what completes it
  name->clear();
  dialog.selectFile(store.path());
  QTest::qWait(50);
}

}  // namespace

class FileDialogTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void initTestCase() { Theme::install(Theme::Mode::dark); }

  // It begins in the given folder; once something was chosen, in that folder.
  void beginsWhereOneWasLast() {
    const QTemporaryDir recipes, other;
    QCOMPARE(FileDialog::lastFolder(recipes.path()), recipes.path());
    QCOMPARE(FileDialog::lastFolder(), QDir::homePath());
    FileDialog cancelled(nullptr, QString(), FileDialog::lastFolder(recipes.path()));
    QCOMPARE(cancelled.directory().absolutePath(), recipes.path());
    cancelled.reject();
    QCOMPARE(FileDialog::lastFolder(recipes.path()), recipes.path());
    FileDialog taken(nullptr, QString(), other.path());
    Q_EMIT taken.accepted();
    QCOMPARE(FileDialog::lastFolder(recipes.path()), other.path());
    QCOMPARE(FileDialog(nullptr, QString(), QString()).directory().absolutePath(), other.path());
  }

  void sizesAndDatesAreWhole() {
    const QTemporaryDir folder;
    QFile file(folder.filePath(QStringLiteral("499-kibibytes-of-a-log")));
    QVERIFY(file.open(QIODevice::WriteOnly));
    file.write(QByteArray(499 << 10, 'x'));
    file.close();
    FileDialog dialog(nullptr, QString(), folder.path());
    dialog.show();
    auto* files = dialog.findChild<QTreeView*>(QStringLiteral("treeView"));
    QVERIFY(files);
    QTRY_COMPARE(files->model()->rowCount(files->rootIndex()), 1);
    const QAbstractItemView* view = files;
    for (int column = 1; column < files->header()->count(); ++column)
      QTRY_VERIFY2(files->columnWidth(column) >= view->sizeHintForColumn(column),
                   qPrintable(QString::number(column)));
  }

  void iconsAreHeddlesOwn() {
    const auto drawn = [](const QIcon& icon) { return icon.pixmap(16, 16).toImage(); };
    FileDialog dialog(nullptr, QString(), QString());
    for (const auto& [type, name] : {std::pair(QAbstractFileIconProvider::Folder, "folder"),
                                     {QAbstractFileIconProvider::File, "file"}})
      QCOMPARE(drawn(dialog.iconProvider()->icon(type)),
               drawn(icon(QLatin1String(name), Tone::muted)));
    for (const auto& [button, name] : {std::pair("toParentButton", "chevron-up"),
                                       {"backButton", "chevron-left"},
                                       {"newFolderButton", "plus"}}) {
      const auto* found = dialog.findChild<QToolButton*>(QLatin1String(button));
      QVERIFY2(found, button);
      QCOMPARE(drawn(found->icon()), drawn(icon(QLatin1String(name), Tone::muted)));
    }
  }

  // Shows the problem itself, and that looking at the locks detects it.
  void qtsOwnDialogDropsTheLocks() {
    const OpenStore store;
    QVERIFY(store.isLocked());
    QFileDialog dialog(nullptr, QString(), store.folder());
    dialog.setOption(QFileDialog::DontUseNativeDialog);
    dialog.show();
    QTRY_VERIFY(!store.isLocked());
  }

  void theWindowsDialogKeepsThem_data() {
    QTest::addColumn<int>("mode");
    QTest::addColumn<bool>("save");
    QTest::newRow("open") << int(QFileDialog::ExistingFile) << false;
    QTest::newRow("save") << int(QFileDialog::AnyFile) << true;
    QTest::newRow("folder") << int(QFileDialog::Directory) << false;
  }

  void theWindowsDialogKeepsThem() {
    QFETCH(int, mode);
    QFETCH(bool, save);
    const OpenStore store;
    {
      FileDialog dialog(nullptr, QString(), store.path());
      dialog.setFileMode(static_cast<QFileDialog::FileMode>(mode));
      if (save) dialog.setAcceptMode(QFileDialog::AcceptSave);
      walk(dialog, store);
      QVERIFY(store.isLocked());
      for (QFileSystemModel* model : dialog.findChildren<QFileSystemModel*>())
        QCOMPARE(model->iconProvider(), dialog.iconProvider());
    }
    // The next one begins in the last folder, whatever it is given.
    FileDialog next(nullptr, QString(), store.folder());
    next.show();
    QTest::qWait(50);
    QVERIFY(store.isLocked());
  }

  void theStoreIsNotReadAsAFile() {
    const OpenStore store;
    for (const char* end : {"", "-wal", "-shm"}) {
      const QString file = store.path() + QLatin1String(end);
      const auto text = readText(file);
      QVERIFY(!text);
      QVERIFY2(text.error().message.find("belongs to the open store") != std::string::npos,
               text.error().message.c_str());
      QVERIFY(!writeText(file, QStringLiteral("seed = 1")));
      QCOMPARE(tokenizerSize(file), 0);
    }
    QVERIFY(store.isLocked());
    const QString other = store.folder() + QStringLiteral("/recipe.toml");
    must(writeText(other, QStringLiteral("seed = 1")));
    QCOMPARE(must(readText(other)), QStringLiteral("seed = 1"));
    QVERIFY(store.isLocked());
  }
};

HEDDLE_WIDGET_TEST(FileDialogTest)
#include "file_dialog_test.moc"
