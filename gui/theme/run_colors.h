// A run's stroke: colour and marker, the same in every chart, chip and table. The colours are those
// of Okabe and Ito in a variant per scheme, at 3:1 or more against the surface: names next to them
// are written in the text's colour.
#pragma once

#include <QColor>
#include <QHash>
#include <QList>
#include <QPainterPath>
#include <optional>

#include "base/run_palette.h"
#include "gui/theme/tokens.h"

class QPainter;

namespace heddle::gui {

inline constexpr int kRunColors = static_cast<int>(kRunPalette);
inline constexpr int kRunMarkers = static_cast<int>(kRunMarkerNames.size());

/// How a run is drawn: a solid line with a marker now and then.
struct RunStroke {
  QColor color;
  int marker = -1;  // 0 to kRunMarkers - 1; -1: none
  bool operator==(const RunStroke&) const = default;
};

/// The stroke that a person gave to a run: a colour, a marker, or both.
struct OwnStroke {
  QColor color = {};  // invalid: by its number
  int marker = -1;    // -1: by its number

  OwnStroke(const QColor& ownColor = {}, int ownMarker = -1) : color(ownColor), marker(ownMarker) {}
  /// The store's text: "#12ab34 square", "#12ab34", "square".
  static OwnStroke of(const QString& text);
  QString text() const;
};

/// The stroke of a slot: 0 to 7 have their own colours, beyond that colour × marker. A run with a
/// colour of its own has a slot made from that; it is made lighter or darker where it would hardly
/// be seen.
RunStroke runStroke(int slot, Scheme scheme);

/// A marker around the origin, 6 wide.
QPainterPath markerPath(int marker);

/// A piece of the stroke, as wide as the box and centred in it: in legends, chips and tables.
void paintRunStroke(QPainter& painter, const QRectF& box, const RunStroke& stroke, int width = 2);

/// Which slot each run has. Runs that are shown together differ; the first ones get the colours
/// that are told apart best; a run keeps its slot from page to page unless another one shown beside
/// it has the same.
class RunSlots {
 public:
  QList<int> of(const QList<qint64>& runs);
  /// Strokes that people have given to runs. Runs of one colour get different markers, unless they
  /// have their own.
  void setOwn(QHash<qint64, OwnStroke> strokes) { own_ = std::move(strokes); }
  const QHash<qint64, OwnStroke>& own() const { return own_; }
  /// The slot of the run's own stroke, for where it is shown alone.
  std::optional<int> ownSlotOf(qint64 run);

 private:
  QHash<qint64, int> known_;
  QHash<qint64, OwnStroke> own_;
};

}  // namespace heddle::gui
