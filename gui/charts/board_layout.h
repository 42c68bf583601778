// The charts of a board and their places, kept in the settings per page and as named views. GUI
// thread only.
#pragma once

#include <QString>
#include <QStringList>
#include <vector>

#include "gui/charts/chart_spec.h"

namespace heddle::gui {

struct BoardCard {
  ChartSpec spec;
  int columns = 1;  // how many of the board's it takes
  int height = kHeight;

  static constexpr int kHeight = 240, kMinHeight = 160, kMaxHeight = 1200;
  bool operator==(const BoardCard&) const = default;
};

struct BoardLayout {
  static constexpr int kMaxColumns = 4;
  std::vector<BoardCard> cards;
  int columns = 0;  // 0: as many as the width has room for

  bool operator==(const BoardLayout&) const = default;
};

/// Empty: the text is none.
std::optional<BoardLayout> boardLayout(const QByteArray& json);
QByteArray toJson(const BoardLayout& layout);

/// The settings of one page.
class BoardViews {
 public:
  /// `page`: "live". Empty: nothing is kept.
  explicit BoardViews(QString page = {}) : page_(std::move(page)) {}
  bool keeps() const { return !page_.isEmpty(); }

  /// As it was last; none: it was never changed, or has been reset.
  std::optional<BoardLayout> last() const;
  void setLast(const std::optional<BoardLayout>& layout);

  QStringList names() const;
  std::optional<BoardLayout> view(const QString& name) const;
  void save(const QString& name, const BoardLayout& layout);
  void remove(const QString& name);

 private:
  QString page_;
};

}  // namespace heddle::gui
