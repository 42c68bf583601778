// A start for tests of Compose: a recipe, and a widget on the screen.
#pragma once

#include <QTest>
#include <memory>

#include "gui/models/plan_client.h"
#include "gui/models/recipe_document.h"
#include "gui/models/recipe_prediction.h"
#include "gui/views/compose/compose_view.h"

namespace heddle::gui {

/// A document that is nobody's file.
inline std::unique_ptr<RecipeDocument> documentOf(const QString& text) {
  auto document = std::make_unique<RecipeDocument>();
  document->load("mine", text, {});
  return document;
}

/// A widget of that size, shown and active; a test that never gets there stops.
template <typename Widget, typename... Parts>
std::unique_ptr<Widget> shown(const QSize& size, Parts&... parts) {
  auto widget = std::make_unique<Widget>(parts...);
  widget->resize(size);
  widget->show();
  if (!QTest::qWaitForWindowActive(widget.get())) qFatal("the widget is not active");
  return widget;
}

}  // namespace heddle::gui
