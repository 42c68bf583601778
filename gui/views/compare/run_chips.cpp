#include "gui/views/compare/run_chips.h"

#include <QPainter>

#include "gui/theme/run_colors.h"
#include "gui/theme/theme.h"
#include "gui/widgets/basics.h"

namespace heddle::gui {
namespace {

/// One run: stroke, name, recipe, a button that takes it away.
class RunChip : public QWidget {
 public:
  RunChip(const storage::RunSummary& run, RunStroke stroke) : stroke_(std::move(stroke)) {
    setFixedHeight(32);
    auto* name = new ElidedLabel(QString::fromStdString(run.name), "", Qt::ElideMiddle);
    name->setFont(font::mono(13, QFont::DemiBold));
    name->setMaximumWidth(240);
    close_ = iconButton(QStringLiteral("close"),
                        RunChips::tr("Take %1 out").arg(QString::fromStdString(run.name)));
    close_->setIconSize({12, 12});
    close_->setFixedSize(22, 22);
    auto* row = new QHBoxLayout(this);
    row->setContentsMargins(44, 0, 6, 0);
    row->setSpacing(8);
    row->addWidget(name);
    auto* recipe = new ElidedLabel(QString::fromStdString(run.recipe_name), "caption");
    recipe->setMaximumWidth(140);
    row->addWidget(recipe);
    row->addWidget(close_);
    setSizePolicy(QSizePolicy::Maximum, QSizePolicy::Fixed);
  }
  QToolButton* closeButton() const { return close_; }

 protected:
  void paintEvent(QPaintEvent*) override {
    QPainter painter(this);
    painter.setRenderHint(QPainter::Antialiasing);
    painter.setPen(QPen(stroke_.color, 1.5));
    painter.setBrush(colors().surface);
    painter.drawRoundedRect(QRectF(rect()).adjusted(1, 1, -1, -1), metric::radius, metric::radius);
    QPen pen(stroke_.color, 2, Qt::SolidLine, Qt::FlatCap);
    if (!stroke_.dash.isEmpty()) pen.setDashPattern(stroke_.dash);
    painter.setPen(pen);
    painter.drawLine(QPointF(12, height() / 2.0), QPointF(36, height() / 2.0));
    if (stroke_.marker > 0) {
      painter.setBrush(stroke_.color);
      painter.drawEllipse(QPointF(24, height() / 2.0), 3, 3);
    }
  }

 private:
  RunStroke stroke_;
  QToolButton* close_;
};

}  // namespace

RunChips::RunChips(QWidget* parent) : QWidget(parent) {
  row_ = new QHBoxLayout(this);
  row_->setContentsMargins(0, 0, 0, 0);
  row_->setSpacing(8);
  add_ = quietButton(tr("Add run"), QStringLiteral("plus"));
  add_->setObjectName(QStringLiteral("addRun"));
  row_->addWidget(add_);
  row_->addStretch(1);
}

void RunChips::setRuns(const std::vector<storage::RunSummary>& runs) {
  while (row_->count() > 2) {
    QLayoutItem* item = row_->takeAt(0);
    item->widget()->hide();
    item->widget()->deleteLater();
    delete item;
  }
  QList<qint64> ids;
  for (const storage::RunSummary& run : runs) ids.append(run.id);
  const QList<int> strokes = runSlots(ids);
  for (size_t i = 0; i < runs.size(); ++i) {
    auto* chip = new RunChip(
        runs[i], runStroke(strokes[static_cast<qsizetype>(i)], Theme::instance().scheme()));
    connect(chip->closeButton(), &QToolButton::clicked, this,
            [this, id = runs[i].id] { Q_EMIT removed(id); });
    row_->insertWidget(static_cast<int>(i), chip);
  }
}

}  // namespace heddle::gui
