#include "gui/views/launch/queue_view.h"

#include <QKeyEvent>
#include <QPainter>
#include <QStyledItemDelegate>
#include <algorithm>
#include <map>

#include "gui/format.h"
#include "gui/theme/theme.h"
#include "gui/widgets/basics.h"

namespace heddle::gui {
namespace {

constexpr int kRunRole = Qt::UserRole, kDetailRole = Qt::UserRole + 1,
              kTroubleRole = Qt::UserRole + 2;
constexpr int kQueueRow = 44;

/// The run's name, and below it after whom it comes or why it does not begin.
class QueueDelegate : public QStyledItemDelegate {
 public:
  using QStyledItemDelegate::QStyledItemDelegate;

  QSize sizeHint(const QStyleOptionViewItem&, const QModelIndex&) const override {
    return {100, kQueueRow};
  }

  void paint(QPainter* painter, const QStyleOptionViewItem& option,
             const QModelIndex& index) const override {
    const Colors& c = colors();
    const bool current = option.state & QStyle::State_Selected;
    painter->save();
    painter->fillRect(option.rect, current ? c.current : c.surface);
    if (current && option.widget->hasFocus())
      painter->fillRect(QRect(option.rect.left(), option.rect.top(), 2, option.rect.height()),
                        c.accent);
    const QRect cell = option.rect.adjusted(10, 5, -10, -5);
    painter->setFont(font::mono());
    painter->setPen(c.muted);
    const QString number = QString::number(index.row() + 1);
    const int left = 26;
    painter->drawText(QRect(cell.left(), cell.top(), left, cell.height() / 2), Qt::AlignVCenter,
                      number);
    const QRect name(cell.left() + left, cell.top(), cell.width() - left, cell.height() / 2);
    painter->setPen(c.text);
    painter->drawText(
        name, Qt::AlignVCenter,
        painter->fontMetrics().elidedText(index.data().toString(), Qt::ElideMiddle, name.width()));
    painter->setFont(font::text(12));
    painter->setPen(index.data(kTroubleRole).toBool() ? c.warnText : c.muted);
    const QRect detail = name.translated(0, cell.height() / 2);
    painter->drawText(detail, Qt::AlignVCenter,
                      painter->fontMetrics().elidedText(index.data(kDetailRole).toString(),
                                                        Qt::ElideRight, detail.width()));
    painter->restore();
  }
};

}  // namespace

QueueView::QueueView(QWidget* parent) : QListWidget(parent) {
  setObjectName(QStringLiteral("queue"));
  setAccessibleName(tr("Queue"));
  setAccessibleDescription(tr("Alt with the arrows moves a run, Delete takes it out"));
  setItemDelegate(new QueueDelegate(this));
  setFrameShape(QFrame::NoFrame);
  setDragDropMode(QAbstractItemView::InternalMove);
  setDefaultDropAction(Qt::MoveAction);
  setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
  setVerticalScrollMode(QAbstractItemView::ScrollPerPixel);
  up_ = iconButton(QStringLiteral("chevron-up"), tr("Earlier (Alt+Up)"));
  down_ = iconButton(QStringLiteral("chevron-down"), tr("Later (Alt+Down)"));
  out_ = iconButton(QStringLiteral("close"), tr("Take out of the queue (Delete)"));
  connect(up_, &QToolButton::clicked, this, [this] { move(-1); });
  connect(down_, &QToolButton::clicked, this, [this] { move(1); });
  connect(out_, &QToolButton::clicked, this, &QueueView::takeOut);
  connect(this, &QListWidget::currentRowChanged, this, &QueueView::showButtons);
  connect(this, &QListWidget::itemActivated, this,
          [this](QListWidgetItem* item) { Q_EMIT opened(item->data(kRunRole).toLongLong()); });
  showButtons();
}

void QueueView::setQueue(const std::vector<storage::QueuedRun>& queue,
                         const std::vector<storage::RunSummary>& going) {
  if (state() == DraggingState) return;  // the next change comes soon enough
  const qint64 kept = currentItem() ? currentItem()->data(kRunRole).toLongLong() : 0;
  std::map<std::string, QString> ahead;  // by target: the name of the run before
  for (const storage::RunSummary& run : going)
    ahead.try_emplace(run.target, format::spelled(run.name));
  const bool oneTarget = std::ranges::all_of(
      queue, [&](const storage::QueuedRun& run) { return run.target == queue.front().target; });
  clear();
  for (const storage::QueuedRun& run : queue) {
    const QString name = format::spelled(run.name), target = format::spelled(run.target);
    const auto before = ahead.find(run.target);
    const QString behind = before == ahead.end() ? tr("next on %1").arg(target)
                           : oneTarget           ? tr("behind %1").arg(before->second)
                                       : tr("on %1, behind %2").arg(target, before->second);
    const QString trouble = QString::fromStdString(run.trouble).section(QLatin1Char('\n'), 0, 0);
    auto* item = new QListWidgetItem(name, this);
    item->setData(kRunRole, static_cast<qlonglong>(run.run));
    item->setData(kDetailRole, trouble.isEmpty() ? behind : trouble);
    item->setData(kTroubleRole, !trouble.isEmpty());
    item->setToolTip(trouble.isEmpty() ? name + QLatin1Char('\n') + behind
                                       : QString::fromStdString(run.trouble));
    item->setData(Qt::AccessibleTextRole,
                  QStringLiteral("%1, %2").arg(name, item->data(kDetailRole).toString()));
    ahead[run.target] = name;
    if (run.run == kept) setCurrentItem(item);
  }
  if (!currentItem() && count() > 0) setCurrentRow(0);
  showButtons();
}

KeyTable QueueView::keys() {
  return {tr("In the queue"),
          {{{Qt::ALT | Qt::Key_Up}, tr("The run comes earlier")},
           {{Qt::ALT | Qt::Key_Down}, tr("The run comes later")},
           {{Qt::Key_Delete}, tr("Take the run out")},
           {{Qt::Key_Return}, tr("Show the run in Live")}}};
}

void QueueView::keyPressEvent(QKeyEvent* event) {
  const bool alt = event->modifiers() == Qt::AltModifier;
  if (alt && event->key() == Qt::Key_Up) return move(-1);
  if (alt && event->key() == Qt::Key_Down) return move(1);
  if (event->key() == Qt::Key_Delete) return takeOut();
  QListWidget::keyPressEvent(event);
}

void QueueView::dropEvent(QDropEvent* event) {
  const auto before = order();
  QListWidget::dropEvent(event);
  if (order() != before) Q_EMIT reordered(order());
}

void QueueView::move(int by) {
  const int from = currentRow(), to = from + by;
  if (from < 0 || to < 0 || to >= count()) return;
  insertItem(to, takeItem(from));
  setCurrentRow(to);
  Q_EMIT reordered(order());
}

void QueueView::takeOut() {
  if (currentItem()) Q_EMIT takenOut(currentItem()->data(kRunRole).toLongLong());
}

void QueueView::showButtons() {
  up_->setEnabled(currentRow() > 0);
  down_->setEnabled(currentRow() >= 0 && currentRow() + 1 < count());
  out_->setEnabled(currentRow() >= 0);
}

std::vector<storage::RunId> QueueView::order() const {
  std::vector<storage::RunId> runs;
  for (int row = 0; row < count(); ++row) runs.push_back(item(row)->data(kRunRole).toLongLong());
  return runs;
}

}  // namespace heddle::gui
