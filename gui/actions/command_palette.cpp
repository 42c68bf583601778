#include "gui/actions/command_palette.h"

#include <QApplication>
#include <QKeyEvent>
#include <QPainter>
#include <QStyledItemDelegate>
#include <QVBoxLayout>
#include <algorithm>

#include "gui/format.h"
#include "gui/theme/theme.h"
#include "gui/widgets/basics.h"
#include "gui/widgets/list_keys.h"
#include "gui/widgets/search_field.h"
#include "gui/widgets/why_not.h"

namespace heddle::gui {
namespace {

constexpr int kWidth = 560, kRow = 32, kRows = 12;

class EntryDelegate : public QStyledItemDelegate {
 public:
  using QStyledItemDelegate::QStyledItemDelegate;

  QSize sizeHint(const QStyleOptionViewItem&, const QModelIndex&) const override {
    return {kWidth, kRow};
  }

  void paint(QPainter* painter, const QStyleOptionViewItem& option,
             const QModelIndex& index) const override {
    const Colors& c = colors();
    painter->save();
    painter->setRenderHint(QPainter::Antialiasing);
    if (option.state & QStyle::State_Selected) {
      painter->setPen(Qt::NoPen);
      painter->setBrush(c.raised);
      painter->drawRoundedRect(QRectF(option.rect).adjusted(4, 1, -4, -1), 4, 4);
    }
    QRect row = option.rect.adjusted(14, 0, -14, 0);
    index.data(Qt::DecorationRole)
        .value<QIcon>()
        .paint(painter, QRect(row.left(), row.center().y() - 7, 16, 16));
    row.setLeft(row.left() + 26);
    const QString shortcut = index.data(PaletteModel::ShortcutRole).toString();
    painter->setFont(font::mono(11));
    painter->setPen(c.muted);
    painter->drawText(row, Qt::AlignVCenter | Qt::AlignRight, shortcut);
    if (!shortcut.isEmpty())
      row.setRight(row.right() - painter->fontMetrics().horizontalAdvance(shortcut) - 12);
    const QString group = index.data(PaletteModel::GroupRole).toString();
    painter->setFont(font::text(12));
    painter->drawText(row, Qt::AlignVCenter | Qt::AlignRight, group);
    row.setRight(row.right() - painter->fontMetrics().horizontalAdvance(group) - 12);
    painter->setFont(font::text());
    painter->setPen(index.data(PaletteModel::PossibleRole).toBool() ? c.text : c.muted);
    painter->drawText(
        row, Qt::AlignVCenter | Qt::AlignLeft,
        painter->fontMetrics().elidedText(index.data().toString(), Qt::ElideRight, row.width()));
    painter->restore();
  }
};

}  // namespace

CommandPalette::CommandPalette(Actions& actions, Session& session, QWidget* window)
    : QFrame(window),
      actions_(actions),
      session_(session),
      reading_(session.readingThread(), this) {
  setObjectName(QStringLiteral("palette"));
  setProperty("role", "popup");
  field_ = new SearchField(tr("Search runs, pages, commands"));
  list_ = new QListView;
  list_->setModel(&model_);
  list_->setItemDelegate(new EntryDelegate(list_));
  list_->setMouseTracking(true);
  list_->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
  list_->setAccessibleName(tr("Matches"));
  list_->setFocusPolicy(Qt::NoFocus);  // the field passes keys on to it
  auto* layout = new QVBoxLayout(this);
  layout->setContentsMargins(8, 8, 8, 8);
  layout->setSpacing(8);
  layout->addWidget(field_);
  layout->addWidget(list_);
  none_ = muted({});
  none_->setObjectName(QStringLiteral("noMatch"));
  none_->setContentsMargins(14, 0, 14, 0);
  layout->addWidget(none_);
  connect(field_, &QLineEdit::textChanged, this, [this](const QString& typed) {
    model_.setTyped(typed);
    showMatches();
  });
  connect(list_, &QListView::clicked, this, &CommandPalette::accept);
  new ListKeys(field_, list_, [this](const QModelIndex& index) { accept(index); });
  field_->installEventFilter(this);
  window->installEventFilter(this);
  hide();
}

void CommandPalette::toggle() {
  if (isVisible())
    hide();
  else
    open();
}

void CommandPalette::open() {
  before_ = window()->focusWidget();
  field_->clear();
  fill({});
  place();
  show();
  raise();
  field_->setFocus();
  session_.read(
      reading_, [](storage::Reader& reader) { return reader.runs(); },
      [this](const Result<std::vector<storage::RunSummary>>& runs) {
        if (runs) fill(*runs);
      });
}

void CommandPalette::fill(const std::vector<storage::RunSummary>& runs) {
  std::vector<PaletteEntry> entries;
  for (QAction* action : actions_.all())
    if (action->isVisible())
      entries.push_back({action->text(), Actions::groupOf(action),
                         action->shortcut().toString(QKeySequence::NativeText), action->icon(),
                         [this, action = QPointer<QAction>(action)] {
                           if (action) trigger(*action);
                         },
                         action->isEnabled()});
  for (const storage::RunSummary& run : runs)
    entries.push_back({format::spelled(run.name),
                       tr("run, %1").arg(QString::fromStdString(to_string(run.state))),
                       {},
                       icon(QStringLiteral("live"), Tone::muted),
                       [this, id = run.id] { Q_EMIT session_.runRequested("live", id); }});
  model_.setEntries(std::move(entries));
  showMatches();
}

void CommandPalette::trigger(QAction& action) {
  if (action.isEnabled()) return action.trigger();
  const QString reason = whyNot(&action);
  Q_EMIT session_.message(reason.isEmpty()
                              ? tr("“%1” is not possible now").arg(action.text())
                              : tr("“%1” is not possible now: %2").arg(action.text(), reason),
                          Tone::warn);
}

void CommandPalette::showMatches() {
  const bool any = model_.rowCount() > 0;
  list_->setVisible(any);
  list_->setCurrentIndex(model_.index(0, 0));
  none_->setVisible(!any);
  none_->setText(tr("No run, page or command matches “%1”")
                     .arg(none_->fontMetrics().elidedText(field_->text(), Qt::ElideRight, 240)));
  place();
}

/// The keyboard goes first: Qt gives that of a hidden widget to any other.
void CommandPalette::leave() {
  if (before_) before_->setFocus();
  hide();
}

void CommandPalette::accept(const QModelIndex& index) {
  if (!index.isValid()) return;
  leave();
  model_.run(index.row());
}

void CommandPalette::place() {
  const int rows = std::clamp(model_.rowCount(), 1, kRows);
  const int width = std::min(kWidth, parentWidget()->width() - 2 * metric::edge);
  setGeometry((parentWidget()->width() - width) / 2, metric::topBar + 8, width,
              rows * kRow + 8 + 28 + 8 + 8 + 2);
}

bool CommandPalette::eventFilter(QObject* watched, QEvent* event) {
  if (watched == parentWidget()) {
    if (event->type() == QEvent::Resize && isVisible()) place();
    return false;
  }
  if (event->type() == QEvent::FocusOut) {
    hide();
    return false;
  }
  if (event->type() != QEvent::KeyPress) return false;
  const int key = static_cast<QKeyEvent*>(event)->key();
  if (key == Qt::Key_Tab || key == Qt::Key_Backtab) {  // leaving the field would close it
    QKeyEvent arrow(QEvent::KeyPress, key == Qt::Key_Tab ? Qt::Key_Down : Qt::Key_Up,
                    Qt::NoModifier);
    QCoreApplication::sendEvent(list_, &arrow);
    return true;
  }
  if (key != Qt::Key_Escape) return false;
  leave();
  return true;
}

}  // namespace heddle::gui
