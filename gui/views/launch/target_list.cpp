#include "gui/views/launch/target_list.h"

#include <QPainter>
#include <QVBoxLayout>

#include "gui/format.h"
#include "gui/theme/theme.h"
#include "gui/views/launch/launch_data.h"

namespace heddle::gui {
namespace {

/// The first thing that does not pass, with what to do about it.
QString adviceOf(const probe::Report& report) {
  for (const probe::Check& check : report.checks) {
    if (check.status == report.worst() && !check.advice.empty()) {
      return QString::fromStdString(check.name + ": " + check.advice);
    }
  }
  return {};
}

/// A row: mark, name and hosts, and what the probe found.
class TargetRow : public QAbstractButton {
 public:
  explicit TargetRow(const TargetEntry& entry) : entry_(entry), state_(stateOf(entry)) {
    setCheckable(true);
    setCursor(Qt::PointingHandCursor);
    setFocusPolicy(Qt::StrongFocus);
    const QString name = entry.name();
    setText(name);
    setObjectName(QStringLiteral("target-") + name);
    setProperty("elides", true);
    found_ = entry.report ? describeReport(*entry.report) : tr("not probed yet");
    const QString why = !entry.error.isEmpty() ? entry.error : entry.lost;
    advice_ = !why.isEmpty() ? tr("%1: %2").arg(state_.text, why)
              : entry.report ? adviceOf(*entry.report)
                             : QString();
    setAccessibleName(QStringList{name, state_.text, found_}.join(QStringLiteral(", ")));
    setToolTip(advice_);
    setMinimumHeight(advice_.isEmpty() ? 56 : 76);
    setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Fixed);
  }
  QSize sizeHint() const override { return {320, minimumHeight()}; }

 protected:
  void paintEvent(QPaintEvent*) override {
    const Colors& c = colors();
    QPainter painter(this);
    painter.setRenderHint(QPainter::Antialiasing);
    const bool lit = isChecked();
    const double line = hasFocus() ? 2 : 1;
    painter.setPen(QPen(lit || hasFocus() ? c.accent : c.line, line));
    painter.setBrush(lit ? c.selected : underMouse() ? c.raised : c.surface);
    const double inside = line / 2;
    painter.drawRoundedRect(QRectF(rect()).adjusted(inside, inside, -inside, -inside),
                            metric::radius, metric::radius);
    painter.setPen(QPen(lit ? c.accent : c.muted, 1.5));
    painter.setBrush(Qt::NoBrush);
    painter.drawEllipse(QRectF(14.5, 14.5, 13, 13));
    if (lit) {
      painter.setPen(Qt::NoPen);
      painter.setBrush(c.accent);
      painter.drawEllipse(QRectF(18, 18, 6, 6));
    }
    const int left = 40;
    const int room = width() - left - 16;
    painter.setFont(font::text(13, QFont::DemiBold));
    painter.setPen(c.text);
    painter.drawText(QRect(left, 8, room, 20), Qt::AlignVCenter,
                     painter.fontMetrics().elidedText(text(), Qt::ElideRight, room));
    const int nameWidth = painter.fontMetrics().horizontalAdvance(text());
    painter.setFont(font::mono(11));
    painter.setPen(c.muted);
    const QString where =
        entry_.isThisMachine() ? tr("ranks as processes here, no SSH") : addressOf(entry_);
    const QRect after(left + nameWidth + 12, 8, std::max(0, room - nameWidth - 32), 20);
    painter.drawText(after, Qt::AlignVCenter,
                     painter.fontMetrics().elidedText(where, Qt::ElideRight, after.width()));
    painter.setFont(font::text(12));
    painter.setPen(entry_.report && !entry_.isOutOfReach() ? c.text : c.muted);
    painter.drawText(QRect(left, 29, room, 20), Qt::AlignVCenter,
                     painter.fontMetrics().elidedText(found_, Qt::ElideRight, room));
    if (state_.known) {
      painter.setPen(Qt::NoPen);
      painter.setBrush(colorOf(state_.tone));
      painter.drawEllipse(QRectF(width() - 22, 14, 8, 8));
    }
    if (advice_.isEmpty()) return;
    painter.setPen(state_.tone == Tone::bad ? c.badText : c.warnText);
    painter.drawText(QRect(left, 49, room, 20), Qt::AlignVCenter,
                     painter.fontMetrics().elidedText(advice_, Qt::ElideRight, room));
  }
  void enterEvent(QEnterEvent*) override { update(); }
  void leaveEvent(QEvent*) override { update(); }

 private:
  TargetEntry entry_;
  TargetState state_;
  QString found_;
  QString advice_;
};

}  // namespace

TargetList::TargetList(QWidget* parent)
    : QWidget(parent),
      chosen_(QString::fromUtf8(remote::kThisMachine.data(),
                                static_cast<qsizetype>(remote::kThisMachine.size()))) {
  group_ = new QButtonGroup(this);
  rows_ = new QVBoxLayout(this);
  rows_->setContentsMargins(0, 0, 0, 0);
  rows_->setSpacing(8);
  connect(group_, &QButtonGroup::buttonClicked, this, [this](QAbstractButton* row) {
    chosen_ = row->text();
    Q_EMIT chosenChanged();
  });
}

void TargetList::setTargets(std::vector<TargetEntry> targets) {
  targets_ = std::move(targets);
  const QWidget* focused = focusWidget();
  const bool hadFocus = focused && focused->hasFocus() && isAncestorOf(focused);
  for (QAbstractButton* row : group_->buttons()) {
    group_->removeButton(row);
    rows_->removeWidget(row);
    row->hide();
    row->deleteLater();
  }
  for (const TargetEntry& entry : targets_) {
    auto* row = new TargetRow(entry);
    group_->addButton(row);
    rows_->addWidget(row);
    row->setChecked(row->text() == chosen_);
    if (row->isChecked() && hadFocus) row->setFocus();
  }
  if (!group_->checkedButton() && !group_->buttons().isEmpty()) {
    group_->buttons().first()->setChecked(true);
    chosen_ = group_->buttons().first()->text();
  }
}

const TargetEntry* TargetList::chosen() const {
  for (const TargetEntry& entry : targets_) {
    if (entry.name() == chosen_) return &entry;
  }
  return nullptr;
}

void TargetList::choose(const QString& name) {
  chosen_ = name;
  for (QAbstractButton* row : group_->buttons()) row->setChecked(row->text() == name);
  Q_EMIT chosenChanged();
}

void TargetList::focusChosen() {
  if (QAbstractButton* row = group_->checkedButton()) row->setFocus();
}

}  // namespace heddle::gui
