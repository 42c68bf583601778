// The kinds of fields that the form is made of; see key_field.h.
#pragma once

#include "engine/hardware/catalogue.h"
#include "gui/views/compose/key_field.h"

namespace heddle::gui {

// number_fields.cpp
KeyField* integerField(RecipeDocument& document, const recipe::KeyInfo& info);
KeyField* realField(RecipeDocument& document, const recipe::KeyInfo& info);
KeyField* sizeField(RecipeDocument& document, const recipe::KeyInfo& info);

// choice_fields.cpp
KeyField* choiceField(RecipeDocument& document, const recipe::KeyInfo& info);
/// Choosing a preset drops the numbers that were written next to the old one; choosing "own
/// numbers" writes them out.
KeyField* presetField(RecipeDocument& document, const recipe::KeyInfo& info);
/// The published models' types of scaling.
KeyField* ropeScalingField(RecipeDocument& document, const recipe::KeyInfo& info);
KeyField* hardwareField(RecipeDocument& document, const recipe::KeyInfo& info);
/// The built-in and the user's own entries, read at the first call.
const hardware::Catalogue& catalogue();
/// Yes, no, or a group size that divides the shards.
KeyField* reshardField(RecipeDocument& document, const recipe::KeyInfo& info);

// text_fields.cpp
KeyField* textField(RecipeDocument& document, const recipe::KeyInfo& info);
/// Numbers, with commas between them.
KeyField* listField(RecipeDocument& document, const recipe::KeyInfo& info);
/// Names of modules, with commas between them.
KeyField* namesField(RecipeDocument& document, const recipe::KeyInfo& info);
/// Files, or a folder: typed, several of them joined by "; ", or chosen in a dialog.
KeyField* pathField(RecipeDocument& document, const recipe::KeyInfo& info);

/// A string of the values' TOML (basic strings only, as `flatten` writes them), and back.
QString unquoted(const QString& toml);
QString quoted(const QString& text);

}  // namespace heddle::gui
