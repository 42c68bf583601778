// What a plan lacks that does not fit, and what would close it, each a click that takes it.
#pragma once

#include <QVBoxLayout>
#include <QWidget>
#include <optional>

#include "engine/plan/document.h"
#include "gui/models/recipe_document.h"

namespace heddle::gui {

class ShortfallView : public QWidget {
  Q_OBJECT

 public:
  explicit ShortfallView(QWidget* parent = nullptr);
  /// Hides where the plan fits. `shortfall`: none while it is `looked` for, or of a plan that is
  /// `stale`.
  void display(const plan::Document& document, const std::optional<plan::Shortfall>& shortfall,
               bool looked, bool stale);

 Q_SIGNALS:
  /// What is to be changed in the recipe, and that in words.
  void taken(const heddle::gui::KeyValues& pairs, const QString& words);

 protected:
  bool event(QEvent* event) override;

 private:
  void add(const plan::Variant& variant, const plan::Document& document);

  QVBoxLayout* rows_;
};

}  // namespace heddle::gui
