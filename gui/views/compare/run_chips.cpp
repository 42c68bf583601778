#include "gui/views/compare/run_chips.h"

#include <QHBoxLayout>
#include <QPainter>
#include <QScrollBar>

#include "gui/format.h"
#include "gui/theme/theme.h"
#include "gui/widgets/basics.h"

namespace heddle::gui {
namespace {

constexpr int kChip = 32, kGap = 8;
constexpr int kRows = 3;
constexpr size_t kRoomy = 6;  // from so many runs on chips are their names alone

/// One run: stroke, name, recipe, a button that takes it away.
class RunChip : public QWidget {
 public:
  RunChip(const storage::RunSummary& run, RunStroke stroke, bool roomy, QWidget* parent)
      : QWidget(parent), stroke_(std::move(stroke)) {
    setFixedHeight(kChip);
    auto* name = new ElidedLabel(format::spelled(run.name), "", Qt::ElideMiddle);
    name->setFont(font::mono(13, QFont::DemiBold));
    name->setMaximumWidth(240);
    close_ = iconButton(QStringLiteral("close"),
                        RunChips::tr("Remove %1").arg(format::shortName(run.name)));
    close_->setIconSize({12, 12});
    close_->setFixedSize(22, 22);
    auto* row = new QHBoxLayout(this);
    row->setContentsMargins(44, 0, 6, 0);
    row->setSpacing(8);
    row->addWidget(name);
    if (roomy) {
      auto* recipe = new ElidedLabel(format::spelled(run.recipe_name), "caption");
      recipe->setMaximumWidth(140);
      row->addWidget(recipe);
    }
    row->addWidget(close_);
  }
  QToolButton* closeButton() const { return close_; }

 protected:
  void paintEvent(QPaintEvent*) override {
    QPainter painter(this);
    painter.setRenderHint(QPainter::Antialiasing);
    painter.setPen(QPen(stroke_.color, 1.5));
    painter.setBrush(colors().surface);
    painter.drawRoundedRect(QRectF(rect()).adjusted(1, 1, -1, -1), metric::radius, metric::radius);
    painter.setRenderHint(QPainter::Antialiasing, false);
    paintRunStroke(painter, QRectF(12, 0, 24, height()), stroke_);
  }

 private:
  RunStroke stroke_;
  QToolButton* close_;
};

}  // namespace

RunChips::RunChips(QWidget* parent) : QWidget(parent) {
  inner_ = new QWidget;
  inner_->setAutoFillBackground(false);
  area_ = new QScrollArea(this);
  area_->setFrameShape(QFrame::NoFrame);
  area_->setFocusPolicy(Qt::NoFocus);  // its chips' buttons have it
  area_->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
  area_->setWidget(inner_);
  inner_->setAutoFillBackground(false);
  area_->viewport()->setAutoFillBackground(false);
  add_ = quietButton(tr("Add run"), QStringLiteral("plus"));
  add_->setObjectName(QStringLiteral("addRun"));
  add_->setParent(this);
  setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Fixed);
  setFixedHeight(kChip);
}

void RunChips::setRuns(const std::vector<storage::RunSummary>& runs,
                       const QList<RunStroke>& strokes) {
  for (QWidget* chip : std::as_const(chips_)) {
    chip->hide();
    chip->deleteLater();  // one may be who asked
  }
  chips_.clear();
  for (size_t i = 0; i < runs.size(); ++i) {
    auto* chip =
        new RunChip(runs[i], strokes[static_cast<qsizetype>(i)], runs.size() < kRoomy, inner_);
    connect(chip->closeButton(), &QToolButton::clicked, this,
            [this, id = runs[i].id] { Q_EMIT removed(id); });
    chip->show();
    chips_.append(chip);
  }
  place();
}

int RunChips::flow(int width, bool withButton) {
  int x = 0, y = 0;
  const auto put = [&](QWidget* widget) {
    const int wide = std::min(widget->sizeHint().width(), width);
    if (x > 0 && x + wide > width) x = 0, y += kChip + kGap;
    widget->setGeometry(x, y, wide, kChip);
    x += wide + kGap;
  };
  for (QWidget* chip : std::as_const(chips_)) put(chip);
  if (withButton) put(add_);
  return y + kChip;
}

void RunChips::place() {
  constexpr int kMax = kRows * (kChip + kGap) - kGap;
  int room = width();
  int height = flow(room, true);
  if (height > kMax) {
    add_->move(width() - add_->sizeHint().width(), 0);
    room = add_->x() - kGap;
    const int inside = room - area_->verticalScrollBar()->sizeHint().width() - 4;
    height = flow(inside, false);
  }
  area_->setGeometry(0, 0, room, std::min(height, kMax));
  inner_->resize(room - (height > kMax ? area_->verticalScrollBar()->sizeHint().width() : 0),
                 height);
  add_->raise();
  setFixedHeight(std::min(height, kMax));
}

void RunChips::resizeEvent(QResizeEvent*) { place(); }

}  // namespace heddle::gui
