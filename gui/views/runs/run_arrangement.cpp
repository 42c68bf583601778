#include "gui/views/runs/run_arrangement.h"

#include <QLineEdit>
#include <QMenu>
#include <utility>

#include "gui/settings.h"
#include "gui/theme/theme.h"
#include "gui/widgets/dialog.h"

namespace heddle::gui {
namespace {

constexpr int kSaveMilliseconds = 300, kMaxViewName = 60;

const QList<RunSort>& standardSorts() {
  static const QList<RunSort> sorts = {{QStringLiteral("created"), true}};
  return sorts;
}

}  // namespace

RunArrangement::RunArrangement(Session& session, RunsModel& model, RunLines& lines,
                               QTableView* table, RunHeader* header, QScrollBar* scroll,
                               FilterBar* filter)
    : QObject(table),
      session_(session),
      model_(model),
      lines_(lines),
      table_(table),
      header_(header),
      filter_(filter),
      reading_(session.readingThread(), this) {
  lines_.setSorts(standardSorts());
  columns_ = new RunColumns(table, header, lines, scroll);
  panel_ = new ColumnPanel(session, table);
  makeButtons(filter);
  saving_.setSingleShot(true);
  saving_.setInterval(kSaveMilliseconds);
  connect(&saving_, &QTimer::timeout, this, &RunArrangement::save);
  connect(columns_, &RunColumns::changed, &saving_, qOverload<>(&QTimer::start));
  connect(&lines_, &RunLines::sortsChanged, &saving_, qOverload<>(&QTimer::start));
  connect(columns_, &RunColumns::sparedChanged, this, &RunArrangement::showSpared);
  connect(panel_, &ColumnPanel::columnChosen, this, &RunArrangement::setColumn);
  connect(panel_, &ColumnPanel::resetWanted, this, &RunArrangement::resetColumns);
  header->setContextMenuPolicy(Qt::CustomContextMenu);
  connect(header, &QWidget::customContextMenuRequested, this, [this](const QPoint& position) {
    offer(header_->logicalIndexAt(position), header_->mapToGlobal(position));
  });
  showSpared();
}

void RunArrangement::makeButtons(FilterBar* filter) {
  group_ = quietButton(tr("Group"));
  group_->setObjectName(QStringLiteral("groupRuns"));
  auto* groups = new QMenu(group_);
  connect(groups, &QMenu::aboutToShow, this, [this, groups] { fillGroupMenu(groups); });
  group_->setMenu(groups);
  chooser_ = quietButton(tr("Columns"), QStringLiteral("columns"));
  chooser_->setObjectName(QStringLiteral("chooseColumns"));
  connect(chooser_, &QPushButton::clicked, this, &RunArrangement::chooseColumns);
  views_ = quietButton(tr("Views"));
  views_->setObjectName(QStringLiteral("runViews"));
  auto* menu = new QMenu(views_);
  connect(menu, &QMenu::aboutToShow, this, [this, menu] { fillViewMenu(menu); });
  views_->setMenu(menu);
  for (QPushButton* button : {group_, views_}) button->setProperty("menu", true);
  for (QWidget* widget : std::initializer_list<QWidget*>{group_, chooser_, views_})
    filter->addRight(widget);
}

QString RunArrangement::labelOf(const QString& key) const {
  if (key == kByLineage) return tr("lineage");
  const int column = model_.columnOf(key);
  return column < 0 ? key : model_.headerData(column, Qt::Horizontal, Qt::DisplayRole).toString();
}

/// That there are columns which the window is too narrow for.
void RunArrangement::showSpared() {
  const QStringList names = columns_->spared();
  chooser_->setText(names.isEmpty() ? tr("Columns") : tr("Columns, %1 hidden").arg(names.size()));
  chooser_->setToolTip(
      names.isEmpty() ? QString() : tr("No room for %1").arg(names.join(QStringLiteral(", "))));
}

void RunArrangement::chooseColumns() {
  QList<std::pair<QString, QString>> builtIn;
  QSet<QString> shown;
  for (int column = 0; column < model_.columnCount(); ++column) {
    const QString key = model_.keyOf(column);
    if (column == RunsModel::Check || column == RunsModel::Name) continue;
    if (column < RunsModel::ColumnCount)
      builtIn.append({key, column == RunsModel::Star ? tr("starred") : labelOf(key)});
    if (columns_->isShown(column) && !header_->isSectionHidden(column)) shown.insert(key);
  }
  for (const QString& key : model_.added()) shown.insert(key);
  panel_->open(chooser_, builtIn, shown);
}

void RunArrangement::setColumn(const QString& key, bool shown) {
  if (const int column = model_.columnOf(key); column >= 0 && column < RunsModel::ColumnCount)
    return columns_->setShown(column, shown);
  QStringList keys = model_.added();
  keys.removeAll(key);
  if (shown) keys.append(key);
  readAdded(keys);
}

void RunArrangement::readAdded(const QStringList& keys) {
  session_.read(
      reading_,
      [keys, tails = model_.tails()](
          storage::Reader& reader) -> Result<std::map<std::string, RunsModel::Values>> {
        std::map<std::string, RunsModel::Values> values;
        if (keys.isEmpty()) return values;
        const auto known = workbench::read_keys(reader);
        if (!known) return fail(known);
        for (const QString& each : keys) {
          const std::string key = each.toStdString();
          if (RunsModel::isOfRow(key)) continue;
          // A view may name a column that no run of this store has: it is empty.
          if (auto found = workbench::read_values(reader, *known, key, tails.get()))
            values[key] = std::move(*found);
        }
        return values;
      },
      [this, keys](Result<std::map<std::string, RunsModel::Values>> values) {
        if (!values)
          return Q_EMIT session_.message(QString::fromStdString(values.error().message), Tone::bad);
        const bool renewed = keys != model_.added();
        model_.setAdded(keys, std::move(*values));
        if (wanted_) return apply(*std::exchange(wanted_, {}));
        if (!wantedGroup_.isEmpty()) setGroups({std::exchange(wantedGroup_, {})});
        if (renewed) columns_->renew();
        if (renewed) saving_.start();
      });
}

void RunArrangement::resetColumns() {
  readAdded({});
  columns_->reset();
}

void RunArrangement::reset() {
  lines_.setSorts(standardSorts());
  setGroups({});
  resetColumns();
}

void RunArrangement::refresh() {
  columns_->measure();
  if (!model_.added().isEmpty() && !reading_.running()) readAdded(model_.added());
}

void RunArrangement::setGroups(const QStringList& keys) {
  lines_.setGroups(keys);
  QStringList labels;
  for (const QString& key : keys)
    labels << (key == QStringLiteral("group") ? tr("sweep") : labelOf(key));
  group_->setText(keys.isEmpty() ? tr("Group") : tr("Group: %1").arg(labels.join(tr(", then "))));
  columns_->measure();
  saving_.start();
}

void RunArrangement::groupBySweep() {
  const QString key = QStringLiteral("group");
  if (model_.columnOf(key) >= 0) return setGroups({key});
  wantedGroup_ = key;
  setColumn(key, true);
}

QStringList RunArrangement::groupKeys() const {
  QStringList keys;
  for (int visual = 0; visual < header_->count(); ++visual) {
    const int column = header_->logicalIndex(visual);
    const bool groups = column > RunsModel::Star && column != RunsModel::Name &&
                        column != RunsModel::Curve && columns_->isShown(column);
    if (groups) keys << model_.keyOf(column);
  }
  return keys;
}

void RunArrangement::fillGroupMenu(QMenu* menu) {
  menu->clear();
  qDeleteAll(menu->findChildren<QMenu*>(Qt::FindDirectChildrenOnly));
  const QString first = lines_.groups().value(0);
  const auto add = [&](const QString& key, const QString& text) {
    const QStringList keys = key.isEmpty() ? QStringList() : QStringList{key};
    QAction* action = menu->addAction(text, this, [this, keys] { setGroups(keys); });
    action->setCheckable(true);
    action->setChecked(key == first);
  };
  add({}, tr("No groups"));
  add(kByLineage, tr("lineage: runs that go on from each other"));
  if (model_.columnOf(QStringLiteral("group")) < 0)
    menu->addAction(tr("sweep: runs that were launched together"), this,
                    &RunArrangement::groupBySweep);
  menu->addSeparator();
  for (const QString& key : groupKeys()) add(key, labelOf(key));
  menu->addAction(tr("another column …"), this, &RunArrangement::chooseColumns);
  menu->addSeparator();
  fillInnerMenu(menu->addMenu(tr("Then by")));
  menu->addAction(tr("Fold all"), this, [this] { lines_.foldAll(true); })
      ->setEnabled(!first.isEmpty());
  menu->addAction(tr("Unfold all"), this, [this] { lines_.foldAll(false); })
      ->setEnabled(!first.isEmpty());
}

/// The groups within each group.
void RunArrangement::fillInnerMenu(QMenu* menu) {
  menu->setObjectName(QStringLiteral("thenBy"));
  const QStringList now = lines_.groups();
  menu->setEnabled(!now.isEmpty() && !lines_.isTree());
  const auto add = [&](const QStringList& keys, const QString& text) {
    QAction* action = menu->addAction(text, this, [this, keys] { setGroups(keys); });
    action->setCheckable(true);
    action->setChecked(keys == now);
  };
  if (!menu->isEnabled()) return;
  add({now[0]}, tr("Nothing"));
  for (const QString& key : groupKeys())
    if (key != now[0]) add({now[0], key}, labelOf(key));
}

void RunArrangement::offer(int section, const QPoint& globalPosition) {
  QMenu menu(table_);
  menu.setObjectName(QStringLiteral("columnMenu"));
  if (section > RunsModel::Star) {
    const QString key = model_.keyOf(section);
    const auto sort = [this, key](bool descending) { lines_.setSorts({{key, descending}}); };
    menu.addAction(tr("Sort ascending"), this, [sort] { sort(false); });
    menu.addAction(tr("Sort descending"), this, [sort] { sort(true); });
    menu.addSeparator();
    if (section != RunsModel::Name && section != RunsModel::Curve) {
      menu.addAction(tr("Group by %1").arg(labelOf(key)), this, [this, key] { setGroups({key}); });
      if (const QString first = lines_.groups().value(0);
          !first.isEmpty() && first != key && !lines_.isTree())
        menu.addAction(tr("Group by %1, then %2").arg(labelOf(first), labelOf(key)), this,
                       [this, first, key] {
                         setGroups({first, key});
                       });
    }
    const bool pinned = columns_->isPinned(section);
    menu.addAction(pinned ? tr("Unpin") : tr("Pin at the left"), this,
                   [this, section, pinned] { columns_->setPinned(section, !pinned); });
    if (section != RunsModel::Name)
      menu.addAction(tr("Hide %1").arg(labelOf(key)), this, [this, key] { setColumn(key, false); });
    menu.addSeparator();
  }
  menu.addAction(tr("Columns …"), this, &RunArrangement::chooseColumns);
  menu.exec(globalPosition);
}

void RunArrangement::offerAt(int column) {
  offer(column,
        header_->mapToGlobal(QPoint(header_->sectionViewportPosition(column), header_->height())));
}

void RunArrangement::fillViewMenu(QMenu* menu) {
  menu->clear();
  const auto settings = openSettings();
  const QStringList names = namedRunViews(*settings);
  for (const QString& name : names)
    menu->addAction(name, this, [this, name] {
      RunView view = loadRunView(*openSettings(), name);
      filter_->setText(view.filter);
      wanted_ = view;
      readAdded(view.added);
    });
  if (!names.isEmpty()) menu->addSeparator();
  menu->addAction(tr("Save this view as …"), this, &RunArrangement::saveAs);
  if (names.isEmpty()) return;
  QMenu* remove = menu->addMenu(tr("Remove a view"));
  for (const QString& name : names)
    remove->addAction(name, this, [name] { removeRunView(*openSettings(), name); });
}

void RunArrangement::saveAs() {
  auto* dialog = new Dialog(tr("Save this view"), {}, Tone::text, table_->window());
  dialog->setAttribute(Qt::WA_DeleteOnClose);
  dialog->body()->addWidget(
      muted(tr("It keeps the filter, the columns, the sorts and the groups. "
               "A view of that name is replaced.")));
  auto* name = new QLineEdit;
  name->setAccessibleName(tr("Name of the view"));
  name->setMaxLength(kMaxViewName);
  dialog->body()->addWidget(name);
  QPushButton* cancel = quietButton(tr("Cancel"));
  QPushButton* keep = primaryButton(tr("Save"));
  keep->setEnabled(false);
  keep->setDefault(true);
  connect(name, &QLineEdit::textChanged, keep,
          [keep](const QString& text) { keep->setEnabled(!text.trimmed().isEmpty()); });
  connect(cancel, &QPushButton::clicked, dialog, &QDialog::reject);
  connect(keep, &QPushButton::clicked, dialog, [this, dialog, name] {
    saveRunView(*openSettings(), name->text().trimmed(), current());
    dialog->accept();
  });
  dialog->addButton(cancel);
  dialog->addButton(keep);
  dialog->open();
  name->setFocus();
}

RunView RunArrangement::current() const {
  RunView view;
  view.filter = filter_->text();
  view.added = model_.added();
  view.sorts = lines_.sorts();
  view.groups = lines_.groups();
  columns_->describe(view);
  return view;
}

void RunArrangement::apply(const RunView& view) {
  lines_.setSorts(view.sorts.isEmpty() ? standardSorts() : view.sorts);
  setGroups(view.groups);
  columns_->apply(view);
  saving_.start();
}

void RunArrangement::keep() {
  const RunView view = loadRunView(*openSettings(), {});
  keeping_ = true;
  if (view.added.isEmpty()) return apply(view);
  wanted_ = view;
  readAdded(view.added);
}

void RunArrangement::saveNow() {
  if (!saving_.isActive()) return;
  saving_.stop();
  save();
}

void RunArrangement::save() {
  if (!keeping_) return;
  RunView view = current();
  view.filter.clear();  // it is the session's, as what the runs of one store are searched for
  saveRunView(*openSettings(), {}, view);
}

}  // namespace heddle::gui
