#include "gui/views/compose/recipe_form.h"

#include <QApplication>
#include <QCursor>
#include <QHBoxLayout>
#include <algorithm>

#include "gui/format.h"
#include "gui/theme/theme.h"
#include "gui/views/compose/field_kinds.h"
#include "gui/widgets/basics.h"

namespace heddle::gui {
namespace {

constexpr int kLabel = 78, kHalf = 170, kSmallest = 60, kButtons = 34;
constexpr qint64 kUsualNode = 8;

/// Ranks of a node of the recipe's hardware.
qint64 ranksPerNode(const recipe::Hardware& hardware) {
  if (const auto entry = catalogue().find(hardware.name)) return entry->node.devices;
  const bool here = hardware.name == hardware::kThisMachine && hardware.ranks <= kUsualNode * 8;
  return here ? hardware.ranks : kUsualNode;
}

QString keyOf(const recipe::Offer& offer) { return QString::fromStdString(offer.key); }

/// "tp 4", a value that can be clicked.
QString linkOf(const recipe::Offer& offer) {
  const recipe::KeyInfo* info = recipe::find_key(offer.key);
  const QString value = QString::fromStdString(offer.value);
  return QStringLiteral("<a href=\"%1=%2\" style=\"color:%3\">%4</a>")
      .arg(keyOf(offer), value.toHtmlEscaped(), colors().accentText.name(),
           QStringLiteral("%1 %2")
               .arg(QString::fromStdString(info->label), QString(value).remove(QChar('"')))
               .toHtmlEscaped()
               .replace(QChar(' '), QStringLiteral("&nbsp;")));
}

}  // namespace

RecipeForm::RecipeForm(RecipeDocument& document, QWidget* parent)
    : QWidget(parent),
      document_(document),
      column_(new QVBoxLayout(this)),
      search_(new SearchField(tr("Search all keys"))) {
  column_->setContentsMargins(12, 12, 12, 16);
  column_->setSpacing(8);
  search_->setObjectName(QStringLiteral("searchKeys"));
  FieldFilter::install(search_);
  column_->addWidget(search_);
  for (const std::string& group : recipe::groups()) addGroup(QString::fromStdString(group));
  column_->addStretch(1);
  bubble_ = new QLabel(this);
  bubble_->setObjectName(QStringLiteral("bubble"));
  bubble_->setProperty("role", "bubble");
  bubble_->setWordWrap(true);
  bubble_->setTextFormat(Qt::RichText);
  bubble_->installEventFilter(this);
  bubble_->hide();
  connect(bubble_, &QLabel::linkActivated, this, &RecipeForm::takeOffer);
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
  column_->addLayout(head);
  group.grid = new QGridLayout;
  group.grid->setHorizontalSpacing(8);
  group.grid->setVerticalSpacing(8);
  group.grid->setColumnStretch(0, 1);
  group.grid->setColumnStretch(1, 1);
  column_->addLayout(group.grid);
  for (const recipe::KeyInfo* info : recipe::keys_of(title.toStdString()))
    if (!info->drawn) group.entries << entryOf(*info);
  group.below = nullptr;
  if (title == QLatin1String("Parallelism")) {
    product_ = group.note;
    product_->setObjectName(QStringLiteral("product"));
    group.below = belowParallelism();
  } else if (title == QLatin1String("Checkpoints")) {
    checkpoints_ = caption({});
    checkpoints_->setObjectName(QStringLiteral("checkpointsNote"));
    group.below = checkpoints_;
  }
  if (group.below != nullptr) column_->addWidget(group.below);
  column_->addSpacing(4);
  const qsizetype index = groups_.size();
  connect(group.head, &QPushButton::clicked, this, [this, index] {
    groups_[index].unfolded = !groups_[index].unfolded;
    arrange();
  });
  groups_ << group;
}

RecipeForm::Entry RecipeForm::entryOf(const recipe::KeyInfo& info) {
  KeyField* field = fieldFor(document_, info);
  QWidget* editor = field->editor();
  auto* cell = new QWidget(this);
  auto* row = new QHBoxLayout(cell);
  row->setContentsMargins(0, 0, 0, 0);
  row->setSpacing(4);
  QLabel* name = fieldLabel(QString::fromStdString(info.label), editor);
  name->setToolTip(helpOf(info));
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
  return {field, cell, wide};
}

QWidget* RecipeForm::belowParallelism() {
  auto* all = new QWidget;
  auto* column = new QVBoxLayout(all);
  column->setContentsMargins(0, 8, 0, 0);
  column->setSpacing(8);
  auto* head = new QHBoxLayout;
  head->addWidget(section(tr("Device mesh")));
  head->addStretch(1);
  meshNote_ = caption({});
  meshNote_->setObjectName(QStringLiteral("meshNote"));
  head->addWidget(meshNote_);
  column->addLayout(head);
  mesh_ = new MeshView;
  column->addWidget(mesh_);
  return all;
}

bool RecipeForm::isShown(const Group& group, const Entry& entry) const {
  const recipe::KeyInfo& info = entry.field->info();
  const QString sought = search_->text().trimmed();
  if (!sought.isEmpty()) {
    const QString words = QString::fromStdString(info.key + " " + info.label + " " + info.help +
                                                 " " + info.group + " " + info.valid);
    return words.contains(sought, Qt::CaseInsensitive);
  }
  return info.often || group.unfolded || document_.isWritten(entry.field->key()) ||
         !entry.field->fault().isEmpty();
}

void RecipeForm::arrange() {
  const bool searching = !search_->text().trimmed().isEmpty();
  for (Group& group : groups_) {
    QList<QWidget*> shown;
    qsizetype rare = 0;
    for (const Entry& entry : group.entries) {
      if (isShown(group, entry)) shown << entry.cell;
      rare += entry.field->info().often ? 0 : 1;
    }
    const qsizetype hidden = group.entries.size() - shown.size();
    const QString title =
        hidden == 0 || searching ? group.title : tr("%1   + %2").arg(group.title).arg(hidden);
    if (group.head->text() != title || group.head->icon().isNull()) {
      group.head->setText(title);
      group.head->setIcon(icon(
          title != group.title ? QStringLiteral("chevron-right") : QStringLiteral("chevron-down"),
          Tone::muted));
    }
    group.head->setEnabled(rare > 0 && !searching);
    group.head->setVisible(!searching || !shown.isEmpty());
    group.note->setVisible(!searching);
    if (group.below != nullptr) group.below->setVisible(!searching);
    if (shown == group.shown) continue;
    group.shown = shown;
    int row = 0, column = 0;
    for (const Entry& entry : group.entries) {
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
    for (const Entry& entry : group.entries) all << entry.field;
  return all;
}

void RecipeForm::refresh() {
  const bool saves = document_.value(QStringLiteral("checkpoint.enabled")) == QLatin1String("true");
  for (KeyField* field : fields()) {
    field->refresh();
    const QString& key = field->key();
    const bool idle = !saves && key.startsWith(QLatin1String("checkpoint.")) &&
                      key != QLatin1String("checkpoint.enabled");
    field->editor()->setEnabled(document_.isReadable() && !idle);
  }
  checkpoints_->setText(saves ? tr("What a stopped run is resumed from.")
                              : tr("A run that stops loses what it has trained."));
  setTone(checkpoints_, saves ? "muted" : "warn");
  refreshMesh();
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
  if (shown == nullptr) {
    bubble_->hide();
    bubbleFor_.clear();
    return;
  }
  const QString told = shown->key() + shown->fault() + document_.text();
  bubble_->setVisible(told != bubbleFor_ || !closed_);
  if (told != bubbleFor_) {
    bubbleFor_ = told;
    closed_ = false;
    QString text = shown->fault().toHtmlEscaped();
    QStringList links;
    for (const recipe::Offer& offer : shown->offers()) links << linkOf(offer);
    if (!links.isEmpty()) text += QStringLiteral("<br>") + links.join(QStringLiteral(" · "));
    bubble_->setText(text);
  }
  const int side = column_->contentsMargins().left();
  const int room = width() - 2 * side;
  // Close to its field: the mouse has to get from there to what is offered.
  const QPoint below = shown->editor()->mapTo(this, QPoint(0, shown->editor()->height()));
  bubble_->setGeometry(side, below.y(), room, bubble_->heightForWidth(room));
  bubble_->raise();
}

void RecipeForm::takeOffer(const QString& link) {
  const QString key = link.section(QChar('='), 0, 0);
  document_.endEdit();
  document_.setKeys({{key, link.section(QChar('='), 1)}}, key.section(QChar('.'), 1));
  document_.endEdit();
}

bool RecipeForm::eventFilter(QObject* watched, QEvent* event) {
  const bool bubble = watched == bubble_;
  if (event->type() == QEvent::Enter && !bubble) {
    pointed_ = static_cast<QWidget*>(watched);
    showBubble();
  } else if (event->type() == QEvent::Leave) {
    const bool toBubble = !bubble && bubble_->isVisible() &&
                          bubble_->rect().contains(bubble_->mapFromGlobal(QCursor::pos()));
    if (!toBubble) pointed_ = nullptr;
    showBubble();
  } else if (event->type() == QEvent::MouseButtonRelease && bubble) {
    // After a link has been taken; beside them a click closes it, since it covers other fields.
    QMetaObject::invokeMethod(
        this,
        [this] {
          closed_ = true;
          bubble_->hide();
        },
        Qt::QueuedConnection);
  }
  return QWidget::eventFilter(watched, event);
}

void RecipeForm::resizeEvent(QResizeEvent* event) {
  QWidget::resizeEvent(event);
  showBubble();
}

void RecipeForm::refreshMesh() {
  const recipe::Parallelism& p = document_.resolved().recipe.parallelism;
  const qint64 ranks = document_.resolved().recipe.hardware.ranks;
  const bool rest = p.dp_shard < 1;  // could not be filled in
  recipe::Parallelism degrees = p;
  degrees.dp_shard = std::max<int64_t>(1, p.dp_shard);
  const recipe::Mesh mesh(degrees);
  const qint64 product = mesh.size();
  const bool fits = !rest && product == ranks;
  product_->setText(QStringLiteral("%1·%2·%3·%4·%5 = %6")
                        .arg(p.pp)
                        .arg(p.dp_replicate)
                        .arg(rest ? QStringLiteral("?") : QString::number(p.dp_shard))
                        .arg(p.cp)
                        .arg(p.tp)
                        .arg(rest ? format::plural(ranks, tr("rank")) + QStringLiteral(" ✗")
                                  : format::plural(product, tr("rank")) +
                                        (fits ? QStringLiteral(" ✓") : QStringLiteral(" ✗"))));
  product_->setToolTip(tr("pp × dp_replicate × dp_shard × cp × tp, outermost first; there are %1")
                           .arg(format::plural(ranks, tr("rank"))));
  setTone(product_, fits ? "good" : "bad");
  const qint64 sharing = mesh.size(recipe::kSharing);
  meshNote_->setText(!fits          ? QString()
                     : sharing == 1 ? tr("nothing is sharded")
                     : sharing == ranks
                         ? tr("one group of %1 shards").arg(format::count(sharing))
                         : tr("one colour to a group of %1 shards").arg(format::count(sharing)));
  mesh_->setMesh(mesh, ranks, ranksPerNode(document_.resolved().recipe.hardware), fits);
}

}  // namespace heddle::gui
