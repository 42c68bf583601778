#include "gui/views/compose/search_fields.h"

#include <QGridLayout>

#include "engine/recipe/units.h"
#include "gui/widgets/basics.h"
#include "gui/widgets/layouts.h"

namespace heddle::gui {
namespace {

constexpr int kFieldWidth = 264;

/// Keys that a search decides and a person may want to keep.
std::vector<std::string> keysToKeep() {
  std::vector<std::string> keys = recipe::keys_along(recipe::kWorld);
  keys.insert(keys.end(),
              {"parallelism.cp_mode", "parallelism.pp_schedule", "parallelism.microbatches",
               "training.local_batch", "wrapping.reshard_after_forward", "recompute.mode"});
  return keys;
}

QString resolvedValue(const RecipeDocument& document, const std::string& key) {
  for (const auto& [name, value] : recipe::flatten(document.resolved().recipe))
    if (name == key) return QString::fromStdString(value);
  return {};
}

/// As the form says it: the word for a number that the others decide, and that number.
QString valueText(const RecipeDocument& document, const recipe::KeyInfo& info) {
  QString value = document.value(QString::fromStdString(info.key));
  const bool decided = !info.zero.empty() && value == QString::number(std::min(info.low, 0.0));
  if (!decided) return value.remove(QChar('"'));
  const QString zero = QString::fromStdString(info.zero);
  const QString number = resolvedValue(document, info.key);
  return number.isEmpty() || number == value || !document.faults().empty()
             ? zero
             : QStringLiteral("%1: %2").arg(zero, number);
}

/// Doubled a few times from the recipe's own.
QString usualCounts(qint64 ranks) {
  constexpr int kDoublings = 3;
  return QStringLiteral("%1-%2").arg(ranks).arg(ranks << kDoublings);
}

}  // namespace

SearchFields::SearchFields(const RecipeDocument& document) : document_(document) {
  setFixedWidth(kFieldWidth);
  QVBoxLayout* column = columnOf(this, {}, 4);
  column->addWidget(section(tr("Fixed or free")));
  QLabel* words = caption(tr("A pinned field stays as it is; the search decides the others."));
  words->setWordWrap(true);
  column->addWidget(words);
  column->addLayout(makePins());
  limit_ =
      makeField(column, tr("Memory limit of a rank"), "memoryLimit", tr("all that the device has"));
  limit_->setToolTip(tr(
      "Layouts that need more memory on a rank are left out, as in 60 GiB; empty: the device's"));
  counting_ = new QWidget;
  QVBoxLayout* counting = columnOf(counting_, {}, 4);
  ranks_ = makeField(counting, tr("Numbers of ranks"), "ranks", {});
  ranks_->setText(usualCounts(document.resolved().recipe.hardware.ranks));
  ranks_->setToolTip(tr("As in 8, 16, 64, or 8-64, which doubles"));
  tokens_ = makeField(counting, tr("Tokens to train"), "tokens", tr("as in 15T or 300B"));
  tokens_->setToolTip(tr("The training's time and cost are predicted for so many tokens"));
  column->addWidget(counting_);
  column->addStretch(1);
  setCounting(false);
}

QLayout* SearchFields::makePins() {
  auto* grid = new QGridLayout;
  grid->setHorizontalSpacing(8);
  grid->setVerticalSpacing(2);
  grid->setColumnStretch(1, 1);
  for (const std::string& key : keysToKeep()) {
    const recipe::KeyInfo* info = recipe::find_key(key);
    const QString name = QString::fromStdString(info->label);
    QToolButton* button = iconButton(QStringLiteral("pin"), tr("Keep %1 as it is").arg(name));
    button->setObjectName(QStringLiteral("pin %1").arg(QLatin1String(key)));
    button->setCheckable(true);
    QLabel* value = mono(valueText(document_, *info));
    value->setObjectName(QStringLiteral("value %1").arg(QLatin1String(key)));
    const int row = grid->rowCount();
    grid->addWidget(button, row, 0);
    grid->addWidget(label(name), row, 1);
    grid->addWidget(value, row, 2, Qt::AlignRight);
    pins_.append({QLatin1String(key), button});
  }
  return grid;
}

QLineEdit* SearchFields::makeField(QVBoxLayout* column, const QString& name, const char* objectName,
                                   const QString& placeholder) {
  auto* field = new QLineEdit;
  field->setObjectName(QLatin1String(objectName));
  field->setPlaceholderText(placeholder);
  field->setAccessibleName(name);
  column->addSpacing(4);
  column->addWidget(muted(name));
  column->addWidget(field);
  return field;
}

void SearchFields::setCounting(bool counting) { counting_->setVisible(counting); }

Result<plan::SearchQuestion> SearchFields::question() const {
  plan::SearchQuestion question;
  question.text = document_.text().toStdString();
  if (!document_.file().isEmpty()) question.file = document_.file().toStdString();
  for (const Pin& pin : pins_)
    if (pin.button->isChecked())
      question.fixes.push_back((pin.key + QChar('=') + document_.value(pin.key)).toStdString());
  if (const std::string limit = limit_->text().trimmed().toStdString(); !limit.empty()) {
    const auto bytes = recipe::parse_bytes(limit);
    if (!bytes || *bytes <= 0) return fail("{} is no size; valid: as in 60 GiB", limit);
    question.memory_limit = *bytes;
  }
  if (counting_->isHidden()) return question;
  auto counts = plan::parse_rank_counts(ranks_->text().toStdString());
  if (!counts) return fail("Numbers of ranks: {}", counts.error().message);
  question.counts = std::move(*counts);
  if (const std::string text = tokens_->text().trimmed().toStdString(); !text.empty()) {
    const auto tokens = plan::parse_tokens(text);
    if (!tokens) return fail("Tokens to train: {}", tokens.error().message);
    question.tokens = *tokens;
  }
  return question;
}

}  // namespace heddle::gui
