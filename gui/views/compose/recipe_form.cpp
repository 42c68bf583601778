#include "gui/views/compose/recipe_form.h"

#include <QApplication>
#include <QHBoxLayout>
#include <QKeyEvent>
#include <QLineEdit>
#include <QToolTip>
#include <algorithm>
#include <utility>

#include "gui/format.h"
#include "gui/theme/icons.h"
#include "gui/views/compose/field_kinds.h"
#include "gui/views/compose/help_key.h"
#include "gui/widgets/basics.h"

namespace heddle::gui {
namespace {

constexpr int kLabel = 78, kHalf = 170, kSmallest = 60, kButtons = 34, kSide = 12;
// The groups of the second column, where there are two.
constexpr std::array kSecondColumn = {"Parallelism", "Memory"};

}  // namespace

RecipeForm::RecipeForm(RecipeDocument& document, QWidget* parent)
    : QWidget(parent), document_(document), search_(new SearchField(tr("Search all keys"))) {
  auto* whole = new QVBoxLayout(this);
  whole->setContentsMargins(kSide, kSide, kSide, 16);
  whole->setSpacing(8);
  search_->setObjectName(QStringLiteral("searchKeys"));
  FieldFilter::install(search_);
  whole->addWidget(search_);
  row_ = new QHBoxLayout;
  row_->setSpacing(2 * kSide);
  for (QVBoxLayout*& column : columns_) {
    column = new QVBoxLayout;
    column->setSpacing(12);
    column->setAlignment(Qt::AlignTop);
    row_->addLayout(column, 1);
  }
  whole->addLayout(row_);
  whole->addStretch(1);
  for (const std::string& group : recipe::groups()) addGroup(QString::fromStdString(group));
  setColumns(1);
  bubble_ = new FaultBubble(document_, this);
  bubble_->installEventFilter(this);
  connect(search_, &QLineEdit::textChanged, this, &RecipeForm::arrange);
  connect(qApp, &QApplication::focusChanged, this, &RecipeForm::showBubble);
  connect(&document_, &RecipeDocument::changed, this, &RecipeForm::refresh);
  refresh();
}

// The field with the focus loses it when it goes, after all that a slot of this could look at.
RecipeForm::~RecipeForm() { disconnect(qApp, nullptr, this, nullptr); }

void RecipeForm::addGroup(const QString& title) {
  Group group;
  group.title = title;
  group.whole = new QWidget(this);
  auto* column = new QVBoxLayout(group.whole);
  column->setContentsMargins(0, 0, 0, 0);
  column->setSpacing(8);
  group.head = new QPushButton(title);
  group.head->setObjectName(QStringLiteral("group:") + title);
  group.head->setProperty("role", "fold");
  group.head->setFocusPolicy(Qt::TabFocus);
  group.head->setToolTip(tr("Show all keys of the group, or those that are used most"));
  group.note = label({}, "mono");
  auto* head = new QHBoxLayout;
  head->addWidget(group.head);
  head->addStretch(1);
  head->addWidget(group.note);
  column->addLayout(head);
  group.grid = new QGridLayout;
  group.grid->setHorizontalSpacing(8);
  group.grid->setVerticalSpacing(8);
  group.grid->setColumnStretch(0, 1);
  group.grid->setColumnStretch(1, 1);
  column->addLayout(group.grid);
  for (const recipe::KeyInfo* info : recipe::keys_of(title.toStdString()))
    if (!info->drawn) group.entries << Entry{info};
  group.below = nullptr;
  if (title == QLatin1String("Parallelism")) {
    group.note->setObjectName(QStringLiteral("product"));
    group.below = mesh_ = new MeshPanel(document_, group.note);
  } else if (title == QLatin1String("Checkpoints")) {
    checkpoints_ = caption({});
    checkpoints_->setObjectName(QStringLiteral("checkpointsNote"));
    group.below = checkpoints_;
  }
  if (group.below != nullptr) column->addWidget(group.below);
  const qsizetype index = groups_.size();
  connect(group.head, &QPushButton::clicked, this, [this, index] {
    groups_[index].unfolded = !groups_[index].unfolded;
    arrange();
  });
  groups_ << group;
}

void RecipeForm::putBelow(const QString& group, QWidget* widget) {
  const auto found = std::ranges::find(groups_, group, &Group::title);
  found->below = widget;
  found->whole->layout()->addWidget(widget);
}

void RecipeForm::setColumns(int columns) {
  if (std::exchange(columnCount_, columns) == columns) return;
  row_->setStretch(1, columns > 1 ? 1 : 0);  // an empty one takes no room
  for (const Group& group : groups_) {
    const bool second =
        columns > 1 && std::ranges::find(kSecondColumn, group.title) != kSecondColumn.end();
    columns_[second ? 1 : 0]->addWidget(group.whole);
  }
}

void RecipeForm::make(Entry& entry, QWidget* group) {
  const recipe::KeyInfo& info = *entry.info;
  KeyField* field = fieldFor(document_, info);
  QWidget* editor = field->editor();
  auto* cell = new QWidget(group);
  auto* row = new QHBoxLayout(cell);
  row->setContentsMargins(0, 0, 0, 0);
  row->setSpacing(4);
  QLabel* name = fieldLabel(QString::fromStdString(info.label), editor);
  name->setToolTip(helpOf(info));
  if (qobject_cast<QLineEdit*>(editor) == nullptr) {  // free text has no neighbours
    name->setToolTip(name->toolTip() +
                     tr("\n\nClick: predict its neighbouring values (Alt+Enter)"));
    name->setCursor(Qt::PointingHandCursor);
    name->setProperty("key", field->key());
    name->setProperty("alsoByKey", true);  // Alt+Enter in the field
    name->installEventFilter(this);
  }
  const int needed = std::max(kLabel, name->sizeHint().width()) + row->spacing() +
                     std::max(kSmallest, field->widestText() + kButtons);
  const bool wide = needed > kHalf;
  name->setMinimumWidth(kLabel);
  row->addWidget(name);
  row->addWidget(editor, 1);
  editor->setMinimumWidth(kSmallest);
  editor->setSizePolicy(QSizePolicy::Ignored, QSizePolicy::Fixed);
  editor->installEventFilter(this);
  cell->hide();
  entry = {&info, field, cell, wide};
  field->refresh();
  enable(field);
}

/// Not a key that only other optimizers have, unless it is written.
bool RecipeForm::isOffered(const Entry& entry) const {
  return recipe::applies(*entry.info, document_.resolved().recipe) ||
         document_.isWritten(QString::fromStdString(entry.info->key));
}

bool RecipeForm::isShown(const Group& group, const Entry& entry) const {
  const recipe::KeyInfo& info = *entry.info;
  const QString sought = search_->text().trimmed();
  if (!sought.isEmpty()) {
    const QString words = QString::fromStdString(info.key + " " + info.label + " " + info.help +
                                                 " " + info.group + " " + info.valid);
    return words.contains(sought, Qt::CaseInsensitive);
  }
  const QString key = QString::fromStdString(info.key);
  return info.often || group.unfolded || document_.isWritten(key) ||
         (entry.field != nullptr ? !entry.field->fault().isEmpty()
                                 : document_.faultOf(key) != nullptr);
}

void RecipeForm::arrange() {
  const bool searching = !search_->text().trimmed().isEmpty();
  for (Group& group : groups_) {
    QList<QWidget*> shown;
    qsizetype offered = 0, rare = 0;
    for (Entry& entry : group.entries) {
      if (!isOffered(entry)) continue;
      ++offered;
      rare += entry.info->often ? 0 : 1;
      if (!isShown(group, entry)) continue;
      if (entry.cell == nullptr) make(entry, group.whole);
      shown << entry.cell;
    }
    const qsizetype hidden = offered - shown.size();
    const QString title =
        hidden == 0 || searching ? group.title : tr("%1   + %2").arg(group.title).arg(hidden);
    if (group.head->text() != title || group.head->icon().isNull()) {
      group.head->setText(title);
      group.head->setIcon(icon(
          title != group.title ? QStringLiteral("chevron-right") : QStringLiteral("chevron-down"),
          Tone::muted));
    }
    group.head->setEnabled(rare > 0 && !searching);
    group.whole->setVisible(!searching || !shown.isEmpty());
    group.note->setVisible(!searching);
    if (group.below != nullptr) group.below->setVisible(!searching);
    if (shown == group.shown) continue;
    group.shown = shown;
    int row = 0, column = 0;
    for (const Entry& entry : group.entries) {
      if (entry.cell == nullptr) continue;
      group.grid->removeWidget(entry.cell);
      entry.cell->setVisible(shown.contains(entry.cell));
      if (!shown.contains(entry.cell)) continue;
      if (entry.wide && column == 1) {
        ++row;
        column = 0;
      }
      group.grid->addWidget(entry.cell, row, column, 1, entry.wide ? 2 : 1);
      column += entry.wide ? 2 : 1;
      if (column >= 2) {
        ++row;
        column = 0;
      }
    }
  }
}

QList<KeyField*> RecipeForm::fields() const {
  QList<KeyField*> all;
  for (const Group& group : groups_)
    for (const Entry& entry : group.entries)
      if (entry.field != nullptr) all << entry.field;
  return all;
}

void RecipeForm::enable(KeyField* field) const {
  const QString& key = field->key();
  const bool idle = !savesCheckpoints() && key.startsWith(QLatin1String("checkpoint.")) &&
                    key != QLatin1String("checkpoint.enabled");
  field->editor()->setEnabled(document_.isReadable() && !idle);
}

bool RecipeForm::savesCheckpoints() const {
  return document_.value(QStringLiteral("checkpoint.enabled")) == QLatin1String("true");
}

void RecipeForm::refresh() {
  for (KeyField* field : fields()) {
    field->refresh();
    enable(field);
  }
  const bool saves = savesCheckpoints();
  checkpoints_->setText(saves ? tr("A stopped run resumes from its newest checkpoint.")
                              : tr("Without checkpoints a stopped run loses its training."));
  setTone(checkpoints_, saves ? "muted" : "warn");
  mesh_->refresh();
  arrange();
  showBubble();
}

QWidget* RecipeForm::firstFaulty() const {
  for (const KeyField* field : fields())
    if (!field->fault().isEmpty()) return field->editor();
  return nullptr;
}

void RecipeForm::showBubble() {
  const QWidget* focused = QApplication::focusWidget();
  const KeyField* shown = nullptr;
  for (const KeyField* field : fields()) {
    if (!field->editor()->isVisible()) continue;
    const bool edited = focused != nullptr &&
                        (field->editor() == focused || field->editor()->isAncestorOf(focused));
    if (!edited && (shown != nullptr || field->editor() != pointed_)) continue;
    if (!field->fault().isEmpty()) shown = field;
    if (shown == field && edited) break;
  }
  if (bubble_->hasFocus() && shown == nullptr) return;  // its links are being chosen
  bubble_->tell(shown);
}

bool RecipeForm::asksForNeighbours(QObject* watched, const QEvent* event) const {
  if (event->type() == QEvent::MouseButtonRelease) return watched->property("key").isValid();
  if (event->type() != QEvent::KeyPress) return false;
  const auto* key = static_cast<const QKeyEvent*>(event);
  return key->modifiers() == Qt::AltModifier &&
         (key->key() == Qt::Key_Return || key->key() == Qt::Key_Enter);
}

/// Shift+F1 in a field: its help, where the pointer would show it.
bool RecipeForm::asksForHelp(QObject* watched, QEvent* event) const {
  const bool pressed = event->type() == QEvent::KeyPress;
  if (!pressed && event->type() != QEvent::ShortcutOverride) return false;
  if (!isHelpOnKey(*static_cast<QKeyEvent*>(event))) return false;
  for (const KeyField* field : fields()) {
    if (field->editor() != watched) continue;
    const QPoint below(0, field->editor()->height());
    if (pressed)
      QToolTip::showText(field->editor()->mapToGlobal(below), helpOf(field->info()),
                         field->editor());
    event->accept();
    return true;
  }
  return false;
}

bool RecipeForm::eventFilter(QObject* watched, QEvent* event) {
  if (asksForHelp(watched, event)) return true;
  if (asksForNeighbours(watched, event)) {
    for (KeyField* field : fields())
      if (field->editor() == watched || field->key() == watched->property("key").toString())
        Q_EMIT neighboursRequested(field);
    return true;
  }
  const bool bubble = watched == bubble_;
  if (!bubble && watched->property("key").isValid()) return QWidget::eventFilter(watched, event);
  if (event->type() == QEvent::Enter && !bubble) {
    pointed_ = static_cast<QWidget*>(watched);
    showBubble();
  } else if (event->type() == QEvent::FocusOut && bubble) {
    QMetaObject::invokeMethod(this, &RecipeForm::showBubble, Qt::QueuedConnection);
  } else if (event->type() == QEvent::Leave) {
    if (bubble || !bubble_->isUnderMouse()) pointed_ = nullptr;
    showBubble();
  }
  return QWidget::eventFilter(watched, event);
}

void RecipeForm::resizeEvent(QResizeEvent* event) {
  QWidget::resizeEvent(event);
  showBubble();
}

}  // namespace heddle::gui
