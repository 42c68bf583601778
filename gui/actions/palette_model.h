// The command palette's list: actions and runs, filtered by the typed text.
#pragma once

#include <QAbstractListModel>
#include <QIcon>
#include <functional>
#include <vector>

namespace heddle::gui {

struct PaletteEntry {
  QString text;
  QString group;
  QString shortcut;
  QIcon icon;
  std::function<void()> run;
  bool possible = true;  // else it is listed last, once something is typed, and `run` says why
};

/// How well a typed text fits: 0 not at all; more for matches at the beginning of words. The
/// letters must occur in order ("cmp" fits "Compare"). Case is ignored.
int fitness(const QString& typed, const QString& text);

class PaletteModel : public QAbstractListModel {
  Q_OBJECT

 public:
  enum Role { GroupRole = Qt::UserRole, ShortcutRole, PossibleRole };

  using QAbstractListModel::QAbstractListModel;
  void setEntries(std::vector<PaletteEntry> entries);
  void setTyped(const QString& typed);
  void run(int row) const;

  int rowCount(const QModelIndex& parent = {}) const override;
  QVariant data(const QModelIndex& index, int role) const override;

 private:
  void filter();

  std::vector<PaletteEntry> entries_;
  std::vector<size_t> shown_;
  QString typed_;
};

}  // namespace heddle::gui
