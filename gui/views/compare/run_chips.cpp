#include "gui/views/compare/run_chips.h"

#include <QContextMenuEvent>
#include <QHBoxLayout>
#include <QPainter>

#include "gui/format.h"
#include "gui/theme/theme.h"
#include "gui/views/compare/run_commands.h"
#include "gui/widgets/basics.h"

namespace heddle::gui {
namespace {

constexpr int kChip = 32, kGap = 8;

/// One run: stroke, name, recipe, a button that takes it away.
class RunChip : public QWidget {
 public:
  RunChip(const storage::RunSummary& run, RunStroke stroke, CompareChoices& choices,
          QWidget* parent)
      : QWidget(parent), run_(run.id), stroke_(std::move(stroke)), choices_(choices) {
    setFixedHeight(kChip);
    setFocusPolicy(Qt::StrongFocus);
    name_ = new ElidedLabel(format::spelled(run.name), "", Qt::ElideMiddle);
    name_->setMaximumWidth(240);
    role_ = caption({});
    auto* close = iconButton(QStringLiteral("close"),
                             RunChips::tr("Remove %1").arg(format::shortName(run.name)));
    close->setIconSize({12, 12});
    close->setFixedSize(22, 22);
    connect(close, &QToolButton::clicked, this,
            [this] { Q_EMIT choices_.removeRequested({run_}); });
    auto* row = new QHBoxLayout(this);
    row->setContentsMargins(44, 0, 6, 0);
    row->setSpacing(8);
    row->addWidget(name_);
    auto* recipe = new ElidedLabel(format::spelled(run.recipe_name), "caption");
    recipe->setMaximumWidth(140);
    row->addWidget(recipe);
    row->addWidget(role_);
    row->addWidget(close);
    for (const auto change : {&CompareChoices::baselineChanged, &CompareChoices::hiddenChanged,
                              &CompareChoices::highlightChanged, &CompareChoices::timelinesChanged})
      connect(&choices_, change, this, &RunChip::follow);
    follow();
  }

 protected:
  void paintEvent(QPaintEvent*) override {
    QPainter painter(this);
    painter.setRenderHint(QPainter::Antialiasing);
    const bool highlighted = choices_.highlighted().contains(run_);
    const bool hidden = choices_.isHidden(run_);
    painter.setPen(QPen(hasFocus() ? colors().accent
                        : hidden   ? colors().line
                                   : stroke_.color,
                        highlighted || hasFocus() ? 2.5 : 1.5));
    painter.setBrush(highlighted ? colors().selected : colors().surface);
    painter.drawRoundedRect(QRectF(rect()).adjusted(1.5, 1.5, -1.5, -1.5), metric::radius,
                            metric::radius);
    painter.setRenderHint(QPainter::Antialiasing, false);
    if (!hidden) paintRunStroke(painter, QRectF(12, 0, 24, height()), stroke_);
  }
  void mousePressEvent(QMouseEvent* event) override {
    if (event->button() == Qt::LeftButton) toggle();
  }
  void keyPressEvent(QKeyEvent* event) override {
    if (event->key() == Qt::Key_Space || event->key() == Qt::Key_Return) return toggle();
    if (!pressRunKey(choices_, {run_}, *event)) QWidget::keyPressEvent(event);
  }
  void contextMenuEvent(QContextMenuEvent* event) override { openMenu(event->globalPos()); }

 private:
  void toggle() {
    QSet<qint64> runs = choices_.highlighted();
    if (!runs.remove(run_)) runs.insert(run_);
    choices_.setHighlighted(runs);
  }
  void openMenu(const QPoint& at) {
    auto* menu = new QMenu(this);
    menu->setAttribute(Qt::WA_DeleteOnClose);
    fillRunMenu(*menu, choices_, {run_});
    menu->popup(at);
  }
  void follow() {
    const bool hidden = choices_.isHidden(run_);
    QStringList words;
    if (choices_.baseline() == run_ && choices_.runs().size() > 1)
      words << RunChips::tr("baseline");
    if (hidden) words << RunChips::tr("hidden");
    role_->setText(words.join(QStringLiteral(", ")));
    role_->setVisible(!words.isEmpty());
    name_->setFont(font::mono(13, QFont::DemiBold));
    name_->setEnabled(!hidden);
    setAccessibleName(name_->fullText());
    if (choices_.highlighted().contains(run_)) words << RunChips::tr("highlighted");
    setAccessibleDescription(words.join(QStringLiteral(", ")));
    setToolTip(
        RunChips::tr("%1\nClick to highlight it; right-click for more").arg(accessibleName()));
    update();
    if (auto* chips = parentWidget()) chips->updateGeometry();
  }

  qint64 run_;
  RunStroke stroke_;
  CompareChoices& choices_;
  ElidedLabel* name_;
  QLabel* role_;
};

}  // namespace

RunChips::RunChips(CompareChoices& choices, QWidget* parent) : QWidget(parent), choices_(choices) {
  setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Fixed);
  setFixedHeight(kChip);
  for (const auto change : {&CompareChoices::baselineChanged, &CompareChoices::hiddenChanged})
    connect(&choices_, change, this, &RunChips::place, Qt::QueuedConnection);
}

void RunChips::setRuns(const std::vector<storage::RunSummary>& runs,
                       const QList<RunStroke>& strokes) {
  for (QWidget* chip : std::as_const(chips_)) {
    chip->hide();
    chip->deleteLater();  // one may be who asked
  }
  chips_.clear();
  for (size_t i = 0; i < runs.size(); ++i) {
    auto* chip = new RunChip(runs[i], strokes[static_cast<qsizetype>(i)], choices_, this);
    chip->show();
    chips_.append(chip);
  }
  place();
}

QSize RunChips::sizeHint() const {
  int wide = 0;
  for (const QWidget* chip : chips_) wide += chip->sizeHint().width() + kGap;
  return {std::max(0, wide - kGap), height()};
}

void RunChips::place() {
  int x = 0, y = 0;
  for (QWidget* chip : std::as_const(chips_)) {
    const int wide = std::min(chip->sizeHint().width(), width());
    if (x > 0 && x + wide > width()) x = 0, y += kChip + kGap;
    chip->setGeometry(x, y, wide, kChip);
    x += wide + kGap;
  }
  setFixedHeight(y + kChip);
  updateGeometry();
}

void RunChips::resizeEvent(QResizeEvent*) { place(); }

}  // namespace heddle::gui
