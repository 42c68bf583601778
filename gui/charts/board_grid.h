// Where the cards of a board are: in rows, from left to right, each as wide as the columns it
// takes.
#pragma once

#include <QRect>
#include <vector>

#include "gui/charts/board_layout.h"

namespace heddle::gui {

struct BoardGrid {
  std::vector<QRect> places;  // as the cards
  int columns = 1;
  int columnWidth = 0;
  int height = 0;       // of all rows
  int leastHeight = 0;  // below that the board scrolls
};

inline constexpr int kBoardGap = 8, kColumnWidth = 380;

/// As many columns as the layout says, else as the width has room for, each at least `columnWidth`
/// wide. Rows of cards whose height nobody has set share the height that there is.
BoardGrid gridOf(const BoardLayout& layout, int width, int height, int columnWidth = kColumnWidth);

/// The index at which a card dropped at that point belongs: before the card whose left half it is
/// over, after the one whose right half it is.
size_t indexAt(const BoardGrid& grid, const QPoint& at);

}  // namespace heddle::gui
