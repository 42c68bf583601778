#include "gui/views/compose/exposed_folds.h"

#include <QObject>
#include <QRegularExpression>
#include <algorithm>
#include <map>

namespace heddle::gui {
namespace {

/// The same of like layers: "all_gather layers.# (backward)".
QString shapeOf(const plan::Exposed& exposed) {
  static const QRegularExpression layer(QStringLiteral("layers\\.\\d+"));
  return QString::fromStdString(exposed.node).replace(layer, QStringLiteral("layers.#"));
}

struct Alike {
  const plan::Exposed* longest = nullptr;
  int others = 0;
  std::map<int64_t, double> seconds;  // by rank
};

}  // namespace

QList<ExposedFold> exposedFolds(const plan::Document& document) {
  std::map<QString, Alike> byShape;
  for (const plan::Exposed& exposed : document.exposed) {
    Alike& alike = byShape[shapeOf(exposed)];
    if (alike.longest == nullptr)
      alike.longest = &exposed;  // the document has the longest first
    else
      ++alike.others;
    alike.seconds[exposed.rank] += exposed.seconds;
  }
  QList<ExposedFold> folds;
  for (const auto& [shape, alike] : byShape) {
    const auto most =
        std::ranges::max_element(alike.seconds, {}, [](const auto& of) { return of.second; });
    QString node = QString::fromStdString(alike.longest->node);
    if (alike.others > 0) node += QObject::tr(", and %1 like it").arg(alike.others);
    folds.append({node, QString::fromStdString(alike.longest->why), most->second});
  }
  std::ranges::stable_sort(folds, std::ranges::greater{}, &ExposedFold::seconds);
  return folds;
}

}  // namespace heddle::gui
