// The form: the keys that are edited most, in groups. What is wrong with a key stands in a bubble
// under it while it is edited or pointed at, so that no other field moves.
#pragma once

#include <QGridLayout>
#include <QLabel>
#include <QList>
#include <QPointer>
#include <QVBoxLayout>
#include <QWidget>

#include "gui/models/recipe_document.h"
#include "gui/views/compose/key_field.h"
#include "gui/views/compose/mesh_view.h"

namespace heddle::gui {

class RecipeForm : public QWidget {
  Q_OBJECT

 public:
  explicit RecipeForm(RecipeDocument& document, QWidget* parent = nullptr);

  /// The first field that has a fault; null: none has.
  QWidget* firstFaulty() const;

 protected:
  bool eventFilter(QObject* watched, QEvent* event) override;
  void resizeEvent(QResizeEvent* event) override;

 private:
  void addModel();
  void addData();
  void addTraining();
  void addParallelism();
  void addMemory();
  void addCheckpoints();
  void beginSection(const QString& title, QWidget* note = nullptr);
  void addWide(const QString& name, KeyField* field);
  void addPair(const QString& left, KeyField* leftField, const QString& right,
               KeyField* rightField);
  void add(KeyField* field, const QString& name);
  KeyField* integer(const char* key, int lowest, const QString& special = {});
  KeyField* number(const char* key);
  KeyField* choice(const char* key, const QStringList& words, const QStringList& labels);
  void refresh();
  void showBubble();
  void refreshMesh();

  RecipeDocument& document_;
  QVBoxLayout* column_;
  QGridLayout* grid_ = nullptr;  // of the section being built
  QList<KeyField*> fields_;
  QPointer<QWidget> pointed_;  // the field under the mouse
  QLabel* bubble_;
  QLabel* product_;
  QLabel* meshNote_;
  MeshView* mesh_;
  QLabel* checkpoints_;
};

}  // namespace heddle::gui
