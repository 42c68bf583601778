// A description in words and numbers. No widgets.
#pragma once

#include <QString>

#include "engine/data/description.h"

namespace heddle::gui {

struct DataFigure {
  QString value;
  QString note;  // below it
};

DataFigure documentsOf(const data::Description& description);
DataFigure tokensOf(const data::Description& description);
/// For a mix, from the least to the most.
DataFigure epochsOf(const data::Description& description);

/// "≈ 338 k", or "338,025" where it is counted.
QString countText(data::Known known, qint64 count);
QString epochsText(double epochs);

/// Where the numbers and the samples are from.
QString originOf(const data::Description& description);
/// The documents that cannot be read; empty: all can.
QString skippedOf(const data::Description& description);
/// The same, and what else is remarkable: a line each.
QString remarksOf(const data::Description& description);
/// "sample 1 of 3: tinyshakespeare.txt, 128 tokens".
QString sampleWords(const data::Description& description, size_t sample);

}  // namespace heddle::gui
