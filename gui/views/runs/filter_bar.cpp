#include "gui/views/runs/filter_bar.h"

#include <QStyle>
#include <algorithm>
#include <utility>

#include "gui/views/runs/filter_popup.h"
#include "gui/widgets/layouts.h"

namespace heddle::gui {
namespace {

constexpr int kTypingPause = 700;
constexpr int kMaxWidth = 640;

/// The values of a filter's keys that rows do not have; a key that no run has is refused.
struct FilterValues {
  RunFilter filter;
  std::map<std::string, RunsModel::Values> values;
};

Result<FilterValues> readFilterValues(storage::Reader& reader, RunFilter filter,
                                      workbench::MetricTails& tails) {
  FilterValues found;
  const auto keys = workbench::read_keys(reader);
  if (!keys) return fail(keys);
  for (const std::string& key : filter.keys()) {
    if (RunsModel::isOfRow(key)) continue;
    auto values = workbench::read_values(reader, *keys, key, &tails);
    if (values)
      found.values[key] = std::move(*values);
    else
      filter.refuse(key, values.error().message);
  }
  found.filter = std::move(filter);
  return found;
}

/// A place in the text of so many UTF-8 bytes, in the string's own count.
int placeIn(const QString& text, size_t bytes) {
  return static_cast<int>(
      QString::fromUtf8(text.toUtf8().left(static_cast<qsizetype>(bytes))).size());
}

}  // namespace

FilterBar::FilterBar(Session& session, RunsModel& model, QWidget* parent)
    : QWidget(parent), session_(session), model_(model), reading_(session.readingThread(), this) {
  field_ = new SearchField(tr("Filter: a word, state is done, lr > 1e-4 and tags has fp8 …"),
                           QStringLiteral("filter"));
  field_->setObjectName(QStringLiteral("filter"));
  field_->setProperty("role", "mono");
  field_->setMaximumWidth(kMaxWidth);
  field_->setToolTip(
      tr("Words: debug, \"two words\"\n"
         "Columns: state is done, steps > 1k, loss = nan, memory < 2 GiB, created > 2d\n"
         "Tags and patterns: tags has fp8, name ~ \"debug*\"\n"
         "Metrics: best(loss) < 3, last(grad_norm) > 1, mean(loss, 100) < 3 of the last 100\n"
         "Any key of recipe, environment or results: lr > 1e-4, wrapping.mode = none\n"
         "Joined by and, or, not and brackets. Ctrl+Space lists what may come next"));
  note_ = new ElidedLabel({}, "error");
  note_->setObjectName(QStringLiteral("filterNote"));
  note_->hide();
  row_ = rowOf(this, {}, 12);
  row_->addWidget(field_, 1);
  row_->addWidget(note_, 1);
  row_->addStretch(0);
  new FilterPopup(session, model, field_);
  typing_.setSingleShot(true);
  connect(&typing_, &QTimer::timeout, this, &FilterBar::apply);
  connect(field_, &QLineEdit::textChanged, this, [this] {
    goesOn_ = true;
    typing_.start(0);  // keys that arrive together filter once
  });
}

void FilterBar::clear() {
  field_->clear();
  field_->setFocus();
}

void FilterBar::apply() {
  RunFilter filter(field_->text().toStdString());
  // While one still types "loss<", the missing value is reported a little later.
  const auto& problem = filter.problem();
  const auto typed = static_cast<size_t>(field_->text().toUtf8().size());
  if (problem && problem->at + problem->length == typed && std::exchange(goesOn_, false))
    return typing_.start(kTypingPause);
  if (problem || std::ranges::all_of(filter.keys(), &RunsModel::isOfRow)) {
    reading_.drop();
    return take(filter);
  }
  session_.read(
      reading_,
      [filter, tails = model_.tails()](storage::Reader& reader) {
        return readFilterValues(reader, filter, *tails);
      },
      [this](Result<FilterValues> found) {
        if (!found)
          return Q_EMIT session_.message(QString::fromStdString(found.error().message), Tone::bad);
        for (auto& [key, values] : found->values) model_.setValues(key, std::move(values));
        take(found->filter);
      });
}

void FilterBar::take(const RunFilter& filter) {
  const auto& problem = filter.problem();
  const QString& text = field_->text();
  const int at = problem ? placeIn(text, problem->at) : 0;
  field_->mark(at, problem ? placeIn(text, problem->at + problem->length) - at : 0);
  if (field_->property("invalid").toBool() != problem.has_value()) {
    field_->setProperty("invalid", problem.has_value());
    field_->style()->polish(field_);
  }
  QStringList readings;
  for (const std::string& reading : filter.readings()) readings << QString::fromStdString(reading);
  note_->setFullText(problem ? QString::fromStdString(problem->text)
                             : readings.join(QStringLiteral("; ")));
  setRole(note_, problem ? "error" : "muted");
  note_->setVisible(!note_->fullText().isEmpty());
  Q_EMIT wanted(filter);
}

}  // namespace heddle::gui
