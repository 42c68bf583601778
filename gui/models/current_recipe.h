// The recipe that is being worked on: Compose edits it, Launch launches it, a restart opens it.
#pragma once

#include <QString>

namespace heddle::gui {

/// Text, and the file its relative paths start at (empty: never saved, or a recipe of a run).
struct CurrentRecipe {
  QString name;
  QString toml;
  QString file;

  bool isNone() const { return name.isEmpty() && toml.isEmpty() && file.isEmpty(); }
  bool operator==(const CurrentRecipe&) const = default;
};

}  // namespace heddle::gui
