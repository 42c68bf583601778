// The form: every key of the recipe in groups, made from the engine's table of keys. A group shows
// what is used most until it is unfolded; a search shows what matches. What is wrong with a key
// is in a bubble next to the form while the field is edited or pointed at, with values to click
// that would be right: it moves no field and covers none.
#pragma once

#include <QGridLayout>
#include <QLabel>
#include <QList>
#include <QPointer>
#include <QPushButton>
#include <QVBoxLayout>
#include <QWidget>
#include <array>

#include "gui/models/recipe_document.h"
#include "gui/views/compose/fault_bubble.h"
#include "gui/views/compose/key_field.h"
#include "gui/views/compose/mesh_panel.h"
#include "gui/widgets/search_field.h"

namespace heddle::gui {

class RecipeForm : public QWidget {
  Q_OBJECT

 public:
  explicit RecipeForm(RecipeDocument& document, QWidget* parent = nullptr);
  ~RecipeForm() override;

  /// One, or two next to each other.
  void setColumns(int columns);
  /// Puts a widget that is no key below a group's keys.
  void putBelow(const QString& group, QWidget* widget);
  /// Makes the bubble a child of `around`, which has room to the right of the form.
  void showBubbleIn(QWidget* around) { bubble_->setParent(around); }
  /// The form was scrolled.
  void placeBubble() { bubble_->place(); }
  /// The first field that has a fault; null: none has.
  QWidget* firstFaulty() const;

 Q_SIGNALS:
  /// The name of a field was clicked, or Alt+Enter pressed in it: what would the next values give?
  void neighboursRequested(heddle::gui::KeyField* field);

 protected:
  bool eventFilter(QObject* watched, QEvent* event) override;
  void resizeEvent(QResizeEvent* event) override;

 private:
  /// A key's label and field, as wide as the form or half of it; made when it is first shown, since
  /// most recipes show a third of all keys.
  struct Entry {
    const recipe::KeyInfo* info;
    KeyField* field = nullptr;
    QWidget* cell = nullptr;
    bool wide = false;
  };
  struct Group {
    QString title;
    QWidget* whole;
    QPushButton* head;
    QLabel* note;
    QGridLayout* grid;
    QWidget* below;  // a widget that is no key; may be null
    QList<Entry> entries;
    QList<QWidget*> shown;
    bool unfolded = false;
  };

  void addGroup(const QString& title);
  void make(Entry& entry, QWidget* group);
  bool isOffered(const Entry& entry) const;
  bool isShown(const Group& group, const Entry& entry) const;
  void arrange();
  /// Tab visits the shown fields in their order on screen, whenever they were made.
  bool savesCheckpoints() const;
  void enable(KeyField* field) const;
  void refresh();
  void showBubble();
  bool asksForHelp(QObject* watched, QEvent* event) const;
  bool asksForNeighbours(QObject* watched, const QEvent* event) const;
  /// The fields made so far.
  QList<KeyField*> fields() const;

  RecipeDocument& document_;
  QHBoxLayout* row_;
  std::array<QVBoxLayout*, 2> columns_;
  int columnCount_ = 0;
  SearchField* search_;
  QList<Group> groups_;
  QPointer<QWidget> pointed_;  // the field under the mouse
  FaultBubble* bubble_;
  MeshPanel* mesh_ = nullptr;
  QLabel* checkpoints_ = nullptr;
};

}  // namespace heddle::gui
