// The window's only dialogs for files and folders. They never open what they list: a dialog of Qt
// or of the desktop looks into each file for its icon, and closing it again would drop the locks of
// a store in that folder (`storage/open_files.h`). So they are Qt's own, with icons by name alone.
#pragma once

#include <QFileDialog>

namespace heddle::gui {

class FileDialog : public QFileDialog {
  Q_OBJECT

 public:
  /// `start`: a folder, or a file in it that is chosen at first; empty: lastFolder().
  FileDialog(QWidget* parent, const QString& title, const QString& start);

  /// The folder in which something was chosen last; before that `otherwise`, or the home folder.
  static QString lastFolder(const QString& otherwise = {});

  // Empty: nothing was chosen.
  static QString fileToOpen(QWidget* parent, const QString& title, const QString& start,
                            const QString& filter);
  static QStringList filesToOpen(QWidget* parent, const QString& title, const QString& start,
                                 const QString& filter);
  static QString fileToSave(QWidget* parent, const QString& title, const QString& start,
                            const QString& filter);
  /// The same without the question whether to replace a file: the writer refuses to.
  static QString newFile(QWidget* parent, const QString& title, const QString& start,
                         const QString& filter);
  static QString folder(QWidget* parent, const QString& title, const QString& start = {});
  /// Several files and folders; if none is chosen, the folder that is shown. `accept`: the button's
  /// text.
  static QStringList paths(QWidget* parent, const QString& title, const QString& filter,
                           const QString& accept);

 protected:
  bool focusNextPrevChild(bool next) override;
  void showEvent(QShowEvent* event) override;
};

}  // namespace heddle::gui
