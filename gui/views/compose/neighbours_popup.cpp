#include "gui/views/compose/neighbours_popup.h"

#include <QPushButton>
#include <QScreen>
#include <QVBoxLayout>
#include <algorithm>

#include "gui/format.h"
#include "gui/views/compose/prediction_words.h"
#include "gui/widgets/basics.h"

namespace heddle::gui {
namespace {

constexpr int kWhyColumn = 300;  // the width of a reason

const char* toneOf(const Difference& difference) {
  return difference.tone == Tone::good ? "good" : difference.tone == Tone::bad ? "bad" : "muted";
}

}  // namespace

NeighboursPopup::NeighboursPopup(RecipePrediction& prediction, const QString& title,
                                 const QString& now, const QList<Neighbour>& neighbours,
                                 QWidget* parent)
    : QFrame(parent, Qt::Popup),
      now_(prediction.isStale() ? nullptr : prediction.shown()),
      alternatives_(prediction, QStringLiteral("neighbour")),
      grid_(new QGridLayout) {
  setObjectName(QStringLiteral("neighbours"));
  setProperty("role", "popup");
  setAttribute(Qt::WA_DeleteOnClose);
  auto* column = new QVBoxLayout(this);
  column->setContentsMargins(16, 12, 16, 12);
  column->setSpacing(8);
  column->addWidget(section(title));
  column->addLayout(grid_);
  grid_->setHorizontalSpacing(12);
  grid_->setVerticalSpacing(6);
  const QStringList heads = {{}, tr("step"), {}, tr("memory a rank")};
  for (int i = 0; i < heads.size(); ++i) grid_->addWidget(caption(heads[i]), 0, i, Qt::AlignRight);
  const Row current = addRow(label(tr("%1 now").arg(now)));
  if (now_)
    fill(current, now_->document);
  else
    refuse(current, tr("no prediction"));
  QStringList texts;
  for (const Neighbour& neighbour : neighbours) {
    QPushButton* take = linkButton(neighbour.words);
    take->setObjectName(QStringLiteral("take"));
    take->setToolTip(tr("Take this value"));
    rows_ << addRow(take);
    refuse(rows_.last(), tr("planning …"));
    texts << neighbour.text;
    connect(take, &QPushButton::clicked, this, [this, neighbour] {
      Q_EMIT taken(neighbour);
      close();
    });
  }
  connect(&alternatives_, &Alternatives::answered, this,
          [this](int index, const std::shared_ptr<const Prediction>& prediction) {
            fill(rows_[index], prediction->document);
            adjustSize();
          });
  connect(&alternatives_, &Alternatives::refused, this, [this](int index, const QString& why) {
    refuse(rows_[index], why);
    adjustSize();
  });
  alternatives_.ask(texts);
}

NeighboursPopup::Row NeighboursPopup::addRow(QWidget* name) {
  const int row = grid_->rowCount();
  const Row made{mono({}), mono({}), mono({}), mono({}), label({})};
  grid_->addWidget(name, row, 0, Qt::AlignLeft);
  int at = 1;
  for (QLabel* cell : {made.step, made.stepBy, made.memory, made.memoryBy})
    grid_->addWidget(cell, row, at++, Qt::AlignRight);
  grid_->addWidget(made.fits, row, at, Qt::AlignLeft);
  return made;
}

void NeighboursPopup::fill(const Row& row, const plan::Document& d) {
  row.step->setText(format::seconds(d.step_seconds));
  row.memory->setText(format::bytes(static_cast<double>(d.peak_bytes)));
  if (now_ && &now_->document != &d) {
    const Difference step = differenceOf(Figure::step, d, now_->document, 0);
    const Difference memory = differenceOf(d.peak_bytes, now_->document.peak_bytes);
    row.stepBy->setText(step.tone == Tone::muted ? tr("as now") : step.shortText);
    row.memoryBy->setText(memory.tone == Tone::muted ? tr("as now") : memory.text);
    setTone(row.stepBy, toneOf(step));
    setTone(row.memoryBy, toneOf(memory));
  }
  row.fits->setText(
      d.limit_bytes == 0 ? QString()
      : d.fits()         ? tr("fits")
                         : tr("%1 over the limit")
                       .arg(format::bytes(static_cast<double>(d.peak_bytes - d.limit_bytes))));
  row.fits->setWordWrap(false);
  row.fits->setMinimumWidth(0);
  setTone(row.fits, d.fits() ? "good" : "bad");
}

void NeighboursPopup::refuse(const Row& row, const QString& why) {
  row.fits->setText(why);
  const bool longer = row.fits->sizeHint().width() > kWhyColumn;
  row.fits->setWordWrap(longer);
  row.fits->setMinimumWidth(longer ? kWhyColumn : 0);
  setTone(row.fits, "muted");
}

void NeighboursPopup::open(const QWidget* at) {
  adjustSize();
  const QRect room = at->screen()->availableGeometry();
  const QPoint corner = at->mapToGlobal(QPoint(0, at->height() + 4));
  move(std::clamp(corner.x(), room.left(), std::max(room.left(), room.right() - width())),
       std::clamp(corner.y(), room.top(), std::max(room.top(), room.bottom() - height())));
  show();
  if (auto* first = findChild<QPushButton*>()) first->setFocus();
}

}  // namespace heddle::gui
