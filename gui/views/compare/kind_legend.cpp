#include "gui/views/compare/kind_legend.h"

#include <QPainter>

#include "gui/timeline/timeline_painter.h"
#include "gui/widgets/basics.h"

namespace heddle::gui {
namespace {

class KindSwatch : public QWidget {
 public:
  explicit KindSwatch(Kind kind) : kind_(kind) { setFixedSize(12, 12); }

 protected:
  void paintEvent(QPaintEvent*) override {
    QPainter painter(this);
    paintSwatch(painter, rect(), kind_);
  }

 private:
  Kind kind_;
};

}  // namespace

QList<QWidget*> kindLegend() {
  QList<QWidget*> entries;
  const std::pair<Kind, QString> kinds[] = {{Kind::backward, QObject::tr("compute")},
                                            {Kind::hidden, QObject::tr("hidden")},
                                            {Kind::exposed, QObject::tr("exposed")},
                                            {Kind::optimizer, QObject::tr("optimizer")}};
  for (const auto& [kind, name] : kinds) {
    auto* entry = new QWidget;
    auto* row = new QHBoxLayout(entry);
    row->setContentsMargins(0, 0, 4, 0);
    row->setSpacing(6);
    row->addWidget(new KindSwatch(kind));
    row->addWidget(caption(name));
    entries.append(entry);
  }
  return entries;
}

}  // namespace heddle::gui
