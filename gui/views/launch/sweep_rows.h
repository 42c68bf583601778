// The keys of a sweep with their values: a row each, and one more on demand.
#pragma once

#include <QLabel>
#include <QLineEdit>
#include <QVBoxLayout>
#include <QWidget>
#include <map>
#include <string>

#include "gui/views/launch/sweep_choice.h"

namespace heddle::gui {

class SweepRows : public QWidget {
  Q_OBJECT

 public:
  /// The recipe's own values are named next to each key.
  explicit SweepRows(const SweptRecipe& recipe, QWidget* parent = nullptr);

  void setKeys(const QList<SweepChoice::Key>& keys);
  QList<SweepChoice::Key> keys() const;
  /// In the first field that is still to be filled in.
  void focusFirst();

 Q_SIGNALS:
  void changed();

 private:
  struct Row {
    QLineEdit* key;
    QLineEdit* values;
    QWidget* remove;
    QLabel* hint;
  };

  void add(const SweepChoice::Key& key);
  void remove(const QLineEdit* key);
  void name();
  void showHint(const Row& row);

  std::map<std::string, std::string> own_;  // the recipe's values by key
  QVBoxLayout* column_;
  QList<Row> rows_;
};

}  // namespace heddle::gui
