#include "gui/widgets/file_dialog.h"

#include <QAbstractFileIconProvider>
#include <QAbstractItemView>
#include <QApplication>
#include <QDialogButtonBox>
#include <QFileInfo>
#include <QHeaderView>
#include <QItemSelectionModel>
#include <QLineEdit>
#include <QListView>
#include <QPushButton>
#include <QStyle>
#include <QTemporaryDir>
#include <QTreeView>

#include "gui/widgets/focus_line.h"
#include "gui/widgets/tab_order.h"

namespace heddle::gui {
namespace {

/// Also called on the thread on which Qt lists folders; the icons are made before.
class NamesOnly : public QAbstractFileIconProvider {
 public:
  NamesOnly()
      : folder_(QApplication::style()->standardIcon(QStyle::SP_DirIcon)),
        file_(QApplication::style()->standardIcon(QStyle::SP_FileIcon)) {}
  QIcon icon(IconType type) const override { return type == IconType::File ? file_ : folder_; }
  QIcon icon(const QFileInfo& info) const override { return info.isDir() ? folder_ : file_; }
  QString type(const QFileInfo& info) const override {
    if (info.isDir()) return FileDialog::tr("Folder");
    return info.suffix().isEmpty() ? FileDialog::tr("File")
                                   : FileDialog::tr("%1 file").arg(info.suffix());
  }

 private:
  QIcon folder_;
  QIcon file_;
};

/// Where dialogs begin: a new one lists its folder before its settings apply.
QString emptyFolder() {
  static const QTemporaryDir folder;
  return folder.path();
}

QStringList chosen(FileDialog& dialog) {
  return dialog.exec() == QDialog::Accepted ? dialog.selectedFiles() : QStringList();
}

QStringList chosenFiles(FileDialog& dialog, QFileDialog::FileMode mode, const QString& filter) {
  dialog.setFileMode(mode);
  dialog.setNameFilter(filter);
  return chosen(dialog);
}

QString fileToWrite(FileDialog& dialog, const QString& filter) {
  dialog.setAcceptMode(QFileDialog::AcceptSave);
  return chosenFiles(dialog, QFileDialog::AnyFile, filter).value(0);
}

/// When files can be chosen, Qt's dialog enters a chosen folder; this one returns it.
class PathDialog : public FileDialog {
 public:
  PathDialog(QWidget* parent, const QString& title, const QString& accept)
      : FileDialog(parent, title, {}), accept_(accept) {
    setFileMode(ExistingFiles);
    // Runs after Qt's slots, which call the button "Open" on a folder and disable it on nothing.
    if (auto* list = findChild<QListView*>(QStringLiteral("listView")))
      connect(list->selectionModel(), &QItemSelectionModel::selectionChanged, this,
              &PathDialog::showButton);
    if (auto* name = findChild<QLineEdit*>(QStringLiteral("fileNameEdit")))
      connect(name, &QLineEdit::textChanged, this, &PathDialog::showButton);
    connect(this, &QFileDialog::directoryEntered, this, &PathDialog::showButton);
    button()->installEventFilter(this);
    showButton();
  }

  QStringList chosenPaths() const {
    const QStringList chosen = selectedFiles();
    return chosen.isEmpty() ? QStringList{directory().absolutePath()} : chosen;
  }

 protected:
  void accept() override {
    for (const QString& path : selectedFiles())
      if (!QFileInfo::exists(path)) return FileDialog::accept();  // warns
    QDialog::accept();
  }
  void showEvent(QShowEvent* event) override {
    FileDialog::showEvent(event);
    showButton();
  }

  /// Qt disables it over nothing at several moments.
  bool eventFilter(QObject* watched, QEvent* event) override {
    if (watched == button() && event->type() == QEvent::EnabledChange) button()->setEnabled(true);
    return FileDialog::eventFilter(watched, event);
  }

 private:
  QPushButton* button() const {
    return findChild<QDialogButtonBox*>()->button(QDialogButtonBox::Open);
  }
  void showButton() {
    setLabelText(Accept, accept_);
    button()->setEnabled(true);
  }

  QString accept_;
};

QString& lastChosenIn() {
  static QString folder;
  return folder;
}

}  // namespace

FileDialog::FileDialog(QWidget* parent, const QString& title, const QString& start)
    : QFileDialog(parent, title, emptyFolder()) {
  static NamesOnly names;
  setOption(DontUseNativeDialog);
  setOption(DontUseCustomDirectoryIcons);
  setIconProvider(&names);
  setHistory({});
  for (QAbstractItemView* view : findChildren<QAbstractItemView*>()) new FocusLine(view);
  const QFileInfo about(start);
  if (start.isEmpty()) {
    setDirectory(lastFolder());
  } else if (about.isDir()) {
    setDirectory(start);
  } else {
    setDirectory(about.absolutePath());
    selectFile(about.fileName());
  }
  connect(this, &QDialog::accepted, this, [this] { lastChosenIn() = directory().absolutePath(); });
}

bool FileDialog::focusNextPrevChild(bool next) { return moveFocus(*this, next); }

void FileDialog::showEvent(QShowEvent* event) {
  QFileDialog::showEvent(event);
  if (auto* name = findChild<QLineEdit*>(QStringLiteral("fileNameEdit"))) name->setFocus();
  // Qt's widths cut sizes and dates, "499...tes".
  if (auto* files = findChild<QTreeView*>(QStringLiteral("treeView"))) {
    for (int column = 1; column < files->header()->count(); ++column)
      files->header()->setSectionResizeMode(column, QHeaderView::ResizeToContents);
    files->header()->setSectionResizeMode(0, QHeaderView::Stretch);
    files->header()->setStretchLastSection(false);
  }
}

QString FileDialog::lastFolder(const QString& otherwise) {
  const QString& last = lastChosenIn();
  if (!last.isEmpty()) return last;
  return otherwise.isEmpty() ? QDir::homePath() : otherwise;
}

QString FileDialog::fileToOpen(QWidget* parent, const QString& title, const QString& start,
                               const QString& filter) {
  FileDialog dialog(parent, title, start);
  return chosenFiles(dialog, ExistingFile, filter).value(0);
}

QStringList FileDialog::filesToOpen(QWidget* parent, const QString& title, const QString& start,
                                    const QString& filter) {
  FileDialog dialog(parent, title, start);
  return chosenFiles(dialog, ExistingFiles, filter);
}

QString FileDialog::fileToSave(QWidget* parent, const QString& title, const QString& start,
                               const QString& filter) {
  FileDialog dialog(parent, title, start);
  return fileToWrite(dialog, filter);
}

QString FileDialog::newFile(QWidget* parent, const QString& title, const QString& start,
                            const QString& filter) {
  FileDialog dialog(parent, title, start);
  dialog.setOption(DontConfirmOverwrite);
  return fileToWrite(dialog, filter);
}

QString FileDialog::folder(QWidget* parent, const QString& title, const QString& start) {
  FileDialog dialog(parent, title, start);
  dialog.setFileMode(Directory);
  dialog.setOption(ShowDirsOnly);
  return chosen(dialog).value(0);
}

QStringList FileDialog::paths(QWidget* parent, const QString& title, const QString& filter,
                              const QString& accept) {
  PathDialog dialog(parent, title, accept);
  dialog.setNameFilter(filter);
  return dialog.exec() == QDialog::Accepted ? dialog.chosenPaths() : QStringList();
}

}  // namespace heddle::gui
