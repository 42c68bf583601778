// The number of ids of a tokenizer: the meaning of `vocab_size = 0`.
#pragma once

#include <QString>
#include <QtGlobal>

namespace heddle::gui {

/// The largest id of a Hugging Face tokenizer.json plus one; 0 if the file cannot be read as one.
/// Reads the whole file: on the GUI thread ask `RecipeFiles`. Any thread.
qint64 tokenizerSize(const QString& file);

}  // namespace heddle::gui
