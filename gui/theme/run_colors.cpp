#include "gui/theme/run_colors.h"

#include <QSet>
#include <array>

#include "gui/theme/theme.h"

namespace heddle::gui {
namespace {

// Order: vermilion, blue, bluish green, reddish purple, orange, sky blue, yellow, text (for black).
constexpr std::array<const char*, 7> kDark = {"#f08246", "#56b4e9", "#2bb894", "#dc93be",
                                              "#e69f00", "#8fb4ff", "#f0e442"};
constexpr std::array<const char*, 7> kLight = {"#bf5200", "#0072b2", "#007a5a", "#a9487f",
                                               "#8f6200", "#2b6f9c", "#736b00"};
const std::array<QVector<qreal>, 4> kDashes = {QVector<qreal>{6, 3}, {}, {2, 2}, {8, 2, 2, 2}};

}  // namespace

RunStroke runStroke(int slot, Scheme scheme) {
  const int color = slot % kRunColors;
  const auto& names = scheme == Scheme::dark ? kDark : kLight;
  return {color < 7 ? QColor(names[color]) : colorsOf(scheme).text,
          kDashes[(slot + slot / kRunColors) % kDashes.size()], slot / kRunColors};
}

QList<int> runSlots(const QList<qint64>& runs) {
  QList<int> found;
  QSet<int> taken;
  for (const qint64 run : runs) {
    const int wanted = static_cast<int>(run % kRunColors);
    const int round = static_cast<int>(found.size()) / kRunColors * kRunColors;
    int slot = round + wanted;
    while (taken.contains(slot)) slot = round + (slot + 1) % kRunColors;
    taken.insert(slot);
    found.append(slot);
  }
  return found;
}

}  // namespace heddle::gui
