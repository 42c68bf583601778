#include "gui/charts/board_grid.h"

#include <algorithm>

namespace heddle::gui {
namespace {

struct GridRow {
  size_t first = 0, end = 0;  // of the cards
  int height = 0;
  int columns = 0;  // that they take
};

std::vector<GridRow> rowsOf(const std::vector<BoardCard>& cards, int columns) {
  std::vector<GridRow> rows;
  for (size_t i = 0; i < cards.size(); ++i) {
    const int wide = std::min(cards[i].columns, columns);
    if (rows.empty() || rows.back().columns + wide > columns) rows.push_back({i, i, 0, 0});
    rows.back().columns += wide;
    rows.back().end = i + 1;
    rows.back().height = std::max(rows.back().height, cards[i].height);
  }
  return rows;
}

}  // namespace

BoardGrid gridOf(const BoardLayout& layout, int width, int height, int columnWidth) {
  BoardGrid grid;
  int wanted = 0;
  for (const BoardCard& card : layout.cards) wanted += card.columns;
  // A few charts share the whole width.
  const int room =
      std::clamp(width / columnWidth, 1, std::clamp(wanted, 1, BoardLayout::kMaxColumns));
  grid.columns = layout.columns > 0 ? layout.columns : room;
  grid.columnWidth = (width - (grid.columns - 1) * kBoardGap) / grid.columns;
  std::vector<GridRow> rows = rowsOf(layout.cards, grid.columns);
  const bool free = std::ranges::all_of(
      layout.cards, [](const BoardCard& card) { return card.height == BoardCard::kHeight; });
  const int gaps = std::max(0, static_cast<int>(rows.size()) - 1) * kBoardGap;
  grid.leastHeight = gaps;
  for (const GridRow& row : rows) grid.leastHeight += free ? BoardCard::kMinHeight : row.height;
  if (free && !rows.empty()) {
    const int share = (height - gaps) / static_cast<int>(rows.size());
    for (GridRow& row : rows) row.height = std::max(share, BoardCard::kMinHeight);
  }
  int y = 0;
  for (const GridRow& row : rows) {
    // Nothing stays empty beside the last cards, unless a person has set the columns.
    const int columns = layout.columns > 0 ? grid.columns : row.columns;
    const auto left = [&](int column) { return column * (width + kBoardGap) / columns; };
    int column = 0;
    for (size_t i = row.first; i < row.end; ++i) {
      const int end = column + std::min(layout.cards[i].columns, grid.columns);
      grid.places.emplace_back(left(column), y, left(end) - kBoardGap - left(column), row.height);
      column = end;
    }
    y += row.height + kBoardGap;
  }
  grid.height = std::max(0, y - kBoardGap);
  return grid;
}

size_t indexAt(const BoardGrid& grid, const QPoint& at) {
  size_t index = 0;
  for (size_t i = 0; i < grid.places.size(); ++i) {
    const QRect& place = grid.places[i];
    const bool above = at.y() > place.bottom();
    const bool left = at.y() >= place.top() && at.x() > place.center().x();
    if (above || left) index = i + 1;
  }
  return index;
}

}  // namespace heddle::gui
