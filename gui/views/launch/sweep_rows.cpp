#include "gui/views/launch/sweep_rows.h"

#include <QAbstractItemView>
#include <QCompleter>
#include <QGridLayout>
#include <algorithm>

#include "engine/recipe/parse.h"
#include "gui/format.h"
#include "gui/widgets/basics.h"
#include "gui/widgets/layouts.h"

namespace heddle::gui {
namespace {

constexpr int kKeyWidth = 230;

QCompleter* keyCompleter(QObject* parent) {
  QStringList keys;
  for (const recipe::KeyInfo& info : recipe::keys())
    if (info.type != "table") keys << QString::fromStdString(info.key);
  auto* completer = new QCompleter(keys, parent);
  completer->setFilterMode(Qt::MatchContains);
  completer->setCaseSensitivity(Qt::CaseInsensitive);
  completer->setMaxVisibleItems(12);
  completer->popup()->setProperty("role", "completer");
  return completer;
}

/// The key that a name is of: itself, or the only one that ends so.
const recipe::KeyInfo* keyCalled(const std::string& name) {
  if (const recipe::KeyInfo* info = recipe::find_key(name)) return info;
  const recipe::KeyInfo* found = nullptr;
  for (const recipe::KeyInfo& info : recipe::keys()) {
    if (!info.key.ends_with("." + name)) continue;
    if (found) return nullptr;
    found = &info;
  }
  return found;
}

}  // namespace

SweepRows::SweepRows(const SweptRecipe& recipe, QWidget* parent) : QWidget(parent) {
  const recipe::Parsed parsed = recipe::parse(recipe.text.toStdString(), recipe.file.toStdString());
  for (auto& [key, value] : recipe::flatten(parsed.recipe)) own_[key] = value;
  QVBoxLayout* all = columnOf(this, {}, 6);
  column_ = new QVBoxLayout;
  column_->setSpacing(6);
  all->addLayout(column_);
  QPushButton* more = linkButton(tr("Add a key"));
  more->setAutoDefault(false);
  all->addWidget(more, 0, Qt::AlignLeft);
  connect(more, &QPushButton::clicked, this, [this] {
    add({});
    rows_.last().key->setFocus();
    Q_EMIT changed();
  });
}

void SweepRows::setKeys(const QList<SweepChoice::Key>& keys) {
  for (const SweepChoice::Key& key : keys) add(key);
  if (rows_.isEmpty()) add({});
}

QList<SweepChoice::Key> SweepRows::keys() const {
  QList<SweepChoice::Key> keys;
  for (const Row& row : rows_)
    if (!row.key->text().trimmed().isEmpty() || !row.values->text().trimmed().isEmpty())
      keys.append({row.key->text().trimmed(), row.values->text().trimmed()});
  return keys;
}

void SweepRows::focusFirst() {
  for (const Row& row : rows_) {
    if (row.key->text().isEmpty()) return row.key->setFocus();
    if (row.values->text().isEmpty()) return row.values->setFocus();
  }
  rows_.first().values->setFocus();
}

void SweepRows::add(const SweepChoice::Key& key) {
  auto* whole = new QWidget;
  auto* grid = new QGridLayout(whole);
  grid->setContentsMargins(0, 0, 0, 0);
  grid->setHorizontalSpacing(8);
  grid->setVerticalSpacing(2);
  Row row;
  row.key = new QLineEdit(key.key);
  row.key->setProperty("role", "mono");
  row.key->setPlaceholderText(tr("a key, as optimizer.lr"));
  row.key->setFixedWidth(kKeyWidth);
  row.key->setCompleter(keyCompleter(row.key));
  row.values = new QLineEdit(key.values);
  row.values->setProperty("role", "mono");
  row.values->setPlaceholderText(tr("values, as 1e-4, 3e-4"));
  row.values->setToolTip(tr("The values between commas that the key has in turn"));
  QToolButton* remove = iconButton(QStringLiteral("close"), {});
  row.remove = remove;
  row.hint = caption({});
  row.hint->setWordWrap(true);
  grid->addWidget(row.key, 0, 0);
  grid->addWidget(row.values, 0, 1);
  grid->addWidget(remove, 0, 2);
  grid->addWidget(row.hint, 1, 0, 1, 3);
  column_->addWidget(whole);
  rows_.append(row);
  name();
  showHint(row);
  connect(row.key, &QLineEdit::textChanged, this, [this, row] {
    showHint(row);
    Q_EMIT changed();
  });
  connect(row.values, &QLineEdit::textChanged, this, &SweepRows::changed);
  connect(remove, &QToolButton::clicked, this, [this, key = row.key] { this->remove(key); });
}

void SweepRows::remove(const QLineEdit* key) {
  const auto at =
      std::find_if(rows_.begin(), rows_.end(), [key](const Row& row) { return row.key == key; });
  if (at == rows_.end()) return;
  QWidget* whole = at->key->parentWidget();
  rows_.erase(at);
  whole->hide();
  whole->deleteLater();
  if (rows_.isEmpty()) add({});
  name();
  focusFirst();
  Q_EMIT changed();
}

/// Accessible names follow the order.
void SweepRows::name() {
  for (qsizetype i = 0; i < rows_.size(); ++i) {
    rows_[i].key->setAccessibleName(tr("Key %1").arg(i + 1));
    rows_[i].values->setAccessibleName(tr("Values of key %1").arg(i + 1));
    rows_[i].remove->setAccessibleName(tr("Remove key %1").arg(i + 1));
    rows_[i].remove->setToolTip(tr("Remove this key"));
  }
}

void SweepRows::showHint(const Row& row) {
  const recipe::KeyInfo* info = keyCalled(row.key->text().trimmed().toStdString());
  QStringList parts;
  if (info) {
    const auto own = own_.find(info->key);
    if (own != own_.end() && !own->second.empty())
      parts << tr("now %1").arg(QString::fromStdString(own->second));
    if (!info->valid.empty()) parts << tr("valid: %1").arg(QString::fromStdString(info->valid));
  }
  row.key->setToolTip(info ? format::inLines(QString::fromStdString(info->help))
                           : tr("Any key of the recipe: a list opens while one types"));
  row.hint->setText(parts.join(QStringLiteral("; ")));
  row.hint->setVisible(!parts.isEmpty());
}

}  // namespace heddle::gui
