// A font for table cells, made once: making a font takes as long as drawing a word.
#pragma once

#include <QChar>
#include <QFont>
#include <QFontMetrics>
#include <QString>
#include <algorithm>
#include <cmath>

namespace heddle::gui {

struct CellFont {
  explicit CellFont(const QFont& of, bool isMono = true)
      : font(of),
        metrics(of),
        letter(isMono ? QFontMetricsF(of).horizontalAdvance(QChar('0')) : 0) {}

  /// Counts Latin letters of equal width: laying out a text takes longer than drawing it.
  int widthOf(const QString& text) const {
    constexpr char16_t kAfterLatin = 0x250;
    const bool counts =
        letter > 0 && std::ranges::all_of(text, [](QChar c) { return c.unicode() < kAfterLatin; });
    return counts ? static_cast<int>(std::ceil(static_cast<double>(text.size()) * letter))
                  : metrics.horizontalAdvance(text);
  }

  QFont font;
  QFontMetrics metrics;
  double letter;  // the width of each; 0: they differ
};

}  // namespace heddle::gui
