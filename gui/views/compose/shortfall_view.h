// How much memory a plan lacks, and the changes that would close the gap, each taken by a click.
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
  /// The change to the recipe, and the same in words.
  void taken(const heddle::gui::KeyValues& pairs, const QString& words);

 protected:
  bool event(QEvent* event) override;

 private:
  void add(const plan::Variant& variant, const plan::Document& document);

  QVBoxLayout* rows_;
};

}  // namespace heddle::gui
