// A box to choose one of the compared keys, after a few choices of its own ("each run"). The choice
// outlasts new data.
#pragma once

#include <QComboBox>

#include "gui/views/compare/compared_keys.h"

namespace heddle::gui {

class KeyList;

class KeyBox : public QComboBox {
  Q_OBJECT

 public:
  /// `name`: the accessible one.
  KeyBox(const QString& name, const QStringList& first, QWidget* parent = nullptr);
  /// A choice that is no longer offered becomes the first one.
  void setKeys(const std::vector<ComparedKey>& keys);
  /// The number of one of the first choices; -1: a key is chosen.
  int ownChoice() const;
  /// The key's index in what was set; none: one of the first choices.
  std::optional<size_t> key() const;
  /// Chooses that key, if it is there.
  void choose(const QString& key);
  /// The same, else once it is offered: by the next setKeys, or not at all.
  void restore(const QString& choice);
  QString choice() const { return wanted_.isEmpty() ? currentText() : wanted_; }

 private:
  QString wanted_;
  QStringList first_;
  KeyList* list_;
};

}  // namespace heddle::gui
