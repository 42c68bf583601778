// Text files whose names come from a person: read and written whole or not at all, and never a file
// of an open store (`storage/open_files.h`).
#pragma once

#include <QString>

#include "base/result.h"

namespace heddle::gui {

Result<QString> readText(const QString& file);
Result<> writeText(const QString& file, const QString& text);

}  // namespace heddle::gui
