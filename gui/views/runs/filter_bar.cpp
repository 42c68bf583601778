#include "gui/views/runs/filter_bar.h"

#include <QStyle>
#include <utility>

#include "gui/widgets/layouts.h"

namespace heddle::gui {
namespace {

constexpr int kTypingMilliseconds = 150, kTypingPause = 700;
constexpr int kMaxWidth = 640;

/// The columns of a filter's keys that the table does not have, by the store's full names. A key
/// may be the last part of a name: "lr" is "recipe.optimizer.lr".
using Columns = std::map<QString, RunsModel::Values>;

Result<Columns> readColumns(storage::Reader& reader, const QStringList& keys) {
  const auto names = reader.columns();
  if (!names) return fail(names);
  Columns columns;
  for (const QString& key : keys) {
    const std::string tail = ("." + key).toStdString();
    for (const std::string& name : *names) {
      if (name != tail.substr(1) && !name.ends_with(tail)) continue;
      auto column = reader.column(name);
      if (!column) return fail(column);
      columns[key].merge(*column);
    }
  }
  return columns;
}

}  // namespace

FilterBar::FilterBar(Session& session, RunsModel& model, QWidget* parent)
    : QWidget(parent), session_(session), model_(model), reading_(session.readingThread(), this) {
  field_ = new SearchField(tr("Filter: a word, state:done, lr>1e-4, created>yesterday …"),
                           QStringLiteral("filter"));
  field_->setObjectName(QStringLiteral("filter"));
  field_->setProperty("role", "mono");
  field_->setMaximumWidth(kMaxWidth);
  field_->setToolTip(
      tr("Words: debug, \"two words\"\n"
         "Columns: state:done, steps>1k, loss=nan, memory<2 GiB, duration>2 h, created>yesterday\n"
         "Any key of recipe, environment or results: lr>1e-4, wrapping.mode=none\n"
         "All must hold; “or” begins other conditions"));
  note_ = new ElidedLabel({}, "error");
  note_->setObjectName(QStringLiteral("filterNote"));
  note_->hide();
  row_ = rowOf(this, {}, 12);
  row_->addWidget(field_, 1);
  row_->addWidget(note_, 1);
  row_->addStretch(0);
  typing_.setSingleShot(true);
  connect(&typing_, &QTimer::timeout, this, &FilterBar::apply);
  connect(field_, &QLineEdit::textChanged, this, [this] {
    goesOn_ = true;
    typing_.start(kTypingMilliseconds);
  });
}

void FilterBar::apply() {
  RunFilter filter(field_->text());
  // While one still types "loss<", the missing value is reported a little later.
  const auto& problem = filter.problem();
  if (problem && problem->at + problem->length == field_->text().size() &&
      std::exchange(goesOn_, false))
    return typing_.start(kTypingPause);
  QStringList missing;
  for (const QString& key : filter.keys())
    if (!isColumn(key)) missing.append(key);
  if (missing.isEmpty() || problem) {
    reading_.drop();
    return take(filter);
  }
  session_.read(
      reading_, [missing](storage::Reader& reader) { return readColumns(reader, missing); },
      [this, filter, missing](Result<Columns> columns) {
        if (!columns)
          return Q_EMIT session_.message(QString::fromStdString(columns.error().message),
                                         Tone::bad);
        RunFilter known = filter;
        for (const QString& key : missing) {
          if (!columns->contains(key)) known.refuse(key, tr("no run has %1").arg(key));
          model_.setValues(key, (*columns)[key]);
        }
        take(known);
      });
}

void FilterBar::take(const RunFilter& filter) {
  const auto& problem = filter.problem();
  field_->mark(problem ? problem->at : 0, problem ? problem->length : 0);
  field_->setProperty("invalid", problem.has_value());
  field_->style()->polish(field_);
  note_->setFullText(problem ? problem->text : QString());
  note_->setVisible(problem.has_value());
  Q_EMIT wanted(filter);
}

}  // namespace heddle::gui
