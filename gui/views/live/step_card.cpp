#include "gui/views/live/step_card.h"

#include <QEvent>
#include <QTextDocument>
#include <algorithm>

#include "gui/format.h"
#include "gui/models/run_pace.h"
#include "gui/theme/theme.h"
#include "gui/timeline/span_text.h"
#include "gui/timeline/timeline_legend.h"

namespace heddle::gui {
namespace {

QString colored(const QString& text, const QColor& color) {
  return QStringLiteral("<span style=\"font-family:'JetBrains Mono'; color:%1\">%2</span>")
      .arg(color.name(), text);
}

/// The mean of these rows, as far as they have a timeline.
Statistics meanOf(const TimelineWidget& timeline, const std::vector<size_t>& rows) {
  Statistics sum;
  int64_t count = 0;
  for (const size_t row : rows) {
    if (!timeline.rows()[row].timeline) continue;
    const Statistics s = timeline.statistics(row);
    sum.range += s.range;
    sum.compute += s.compute;
    sum.communication += s.communication;
    sum.overlapped += s.overlapped;
    sum.exposed += s.exposed;
    sum.waiting += s.waiting;
    sum.bubble += s.bubble;
    sum.idle += s.idle;
    ++count;
  }
  if (count == 0) return sum;
  for (int64_t* value : {&sum.range, &sum.compute, &sum.communication, &sum.overlapped,
                         &sum.exposed, &sum.waiting, &sum.bubble, &sum.idle}) {
    *value /= count;
  }
  return sum;
}

}  // namespace

StepCard::StepCard(QWidget* parent) : Card(tr("Timeline"), parent) {
  straggler_ = new Chip({}, Tone::warn);
  straggler_->setObjectName(QStringLiteral("straggler"));
  previous_ = iconButton(QStringLiteral("chevron-left"), tr("Previous profiled step"));
  next_ = iconButton(QStringLiteral("chevron-right"), tr("Next profiled step"));
  previous_->setObjectName(QStringLiteral("previousStep"));
  next_->setObjectName(QStringLiteral("nextStep"));
  legend_ = new TimelineLegend;
  view_ = new TimelineView;
  timeline_ = view_->timeline();
  connect(view_, &TimelineView::saved, this, &StepCard::saved);
  connect(view_->tools(), &TimelineTools::searchingChanged, this, &StepCard::fold);
  addControl(straggler_);
  addControl(legend_);
  addControl(view_->tools());
  addControl(previous_);
  addControl(next_);

  timeline_->setPhaseBand(PhaseBand::firstRow);
  setBodyMargins(1, 4, 1, 0);
  body()->setSpacing(0);
  body()->addWidget(view_, 1);

  surprising_ = new QWidget;
  auto* line = new QHBoxLayout(surprising_);
  line->setContentsMargins(16, 2, 16, 0);
  line->setSpacing(8);
  shows_ = new Segment({tr("both"), tr("measured"), tr("predicted")});
  shows_->setObjectName(QStringLiteral("shows"));
  connect(shows_, &Segment::currentChanged, this, &StepCard::showRows);
  line->addWidget(shows_);
  surprises_ = new ElidedLabel;
  surprises_->setObjectName(QStringLiteral("surprises"));
  line->addWidget(surprises_, 1);
  QPushButton* all = linkButton(tr("Node by node"));
  all->setObjectName(QStringLiteral("differences"));
  all->setToolTip(tr("Compare prediction and measurement, node by node"));
  connect(all, &QPushButton::clicked, this, &StepCard::differencesWanted);
  line->addWidget(all);
  body()->addWidget(surprising_);
  auto* foot = new QWidget;
  foot->setFixedHeight(34);
  auto* row = new QHBoxLayout(foot);
  row->setContentsMargins(16, 0, 16, 2);
  row->setSpacing(8);
  statistics_ = new QLabel;
  statistics_->setTextFormat(Qt::RichText);
  statistics_->setSizePolicy(QSizePolicy::Ignored, QSizePolicy::Preferred);
  statistics_->setObjectName(QStringLiteral("statistics"));
  statistics_->installEventFilter(this);
  row->addWidget(statistics_, 1);
  QStringList keys;
  for (const auto& [key, means] :
       {std::pair(tr("W S"), tr("zoom")), std::pair(tr("A D"), tr("pan")),
        std::pair(tr("F"), tr("fit")), std::pair(tr(". ,"), tr("span")),
        std::pair(tr("M"), tr("memory"))}) {
    for (QLabel* hint : {label(key, "key"), caption(means)}) {
      row->addWidget(hint, 0, Qt::AlignVCenter);
      hints_ << hint;
    }
    keys << key + QChar(' ') + means;
  }
  keys_ = label(tr("keys"), "key");
  keys_->setToolTip(keys.join(QStringLiteral("\n")));
  row->addWidget(keys_, 0, Qt::AlignVCenter);
  body()->addWidget(foot);

  connect(previous_, &QToolButton::clicked, this, [this] { go(-1); });
  connect(next_, &QToolButton::clicked, this, [this] { go(1); });
  connect(timeline_, &TimelineWidget::selectionChanged, this, &StepCard::showStatistics);
  connect(&Theme::instance(), &Theme::changed, this, &StepCard::showStatistics);
  clear();
}

void StepCard::clear() {
  profiled_.clear();
  compute_.clear();
  shown_ = {};
  counted_.clear();
  timeline_->select({});
  timeline_->setRows({});
  surprising_->hide();
  showHead();
  showStatistics();
}

void StepCard::setTimelines(const StepTimelines& step) {
  shown_ = step;
  compute_.clear();
  for (const auto& timeline : step.timelines)
    compute_.push_back(static_cast<double>(timeline->statistics().compute) * 1e-6);
  surprising_->setVisible(!step.predicted.empty());
  showSurprises(step.surprises);
  showRows();
  showHead();
}

StepCard::Shows StepCard::shows() const {
  // A step without a prediction is what it is, whatever was chosen for another one.
  return shown_.predicted.empty() ? Shows::measured : static_cast<Shows>(shows_->current());
}

/// The stage's prediction is under the rank that represents its pipeline stage.
void StepCard::showRows() {
  const auto slow = findStraggler(compute_, stagesOf(shown_.ranks));
  std::vector<TimelineRow> rows;
  counted_.clear();
  const auto addPredicted = [&](const PredictedTimeline& predicted) {
    if (shows() == Shows::predicted) counted_.push_back(rows.size());
    rows.push_back(predictedRow(predicted));
  };
  for (size_t i = 0; i < shown_.ranks.size() && shows() != Shows::predicted; ++i) {
    counted_.push_back(rows.size());
    rows.push_back(measuredRow(i, slow));
    for (const PredictedTimeline& predicted : shown_.predicted)
      if (shows() == Shows::both && predicted.rank == shown_.ranks[i]) addPredicted(predicted);
  }
  // The ranks of some may not have come in yet.
  for (const PredictedTimeline& predicted : shown_.predicted)
    if (shows() == Shows::predicted ||
        (shows() == Shows::both &&
         std::ranges::find(shown_.ranks, predicted.rank) == shown_.ranks.end()))
      addPredicted(predicted);
  timeline_->setRows(std::move(rows));
  showStatistics();
}

TimelineRow StepCard::measuredRow(size_t i, const std::optional<Straggler>& slow) const {
  TimelineRow row;
  row.title = tr("rank %1").arg(shown_.ranks[i]);
  const QString place = placeOf(shown_.ranks[i]);
  row.subtitle = place.isEmpty() ? duration(shown_.timelines[i]->lengthUs()) : place;
  const bool behind = slow && slow->index == i;
  row.warn = behind && !stale_;
  if (behind) {
    row.note = tr("straggler +%1").arg(format::seconds(slow->behind));
    row.note.replace(row.note.lastIndexOf(QChar(' ')), 1, QChar(QChar::Nbsp));  // "+10.8 ms"
  }
  row.timeline = shown_.timelines[i];
  row.plan = shown_.plan;
  row.rank = shown_.ranks[i];
  if (i < shown_.counters.size()) row.counters = shown_.counters[i];
  return row;
}

TimelineRow StepCard::predictedRow(const PredictedTimeline& predicted) const {
  TimelineRow row;
  row.title = tr("predicted");
  row.subtitle = shows() == Shows::predicted && shown_.predicted.size() > 1
                     ? tr("rank %1").arg(predicted.rank)
                     : duration(predicted.timeline->lengthUs());
  row.timeline = predicted.timeline;
  row.plan = shown_.plan;
  row.run = 1;  // ranks of the prediction meet one another
  row.rank = predicted.rank;
  const auto at = static_cast<size_t>(&predicted - shown_.predicted.data());
  if (at < shown_.predictedCounters.size()) row.counters = shown_.predictedCounters[at];
  return row;
}

void StepCard::showSurprises(const std::vector<RankSurprise>& surprises) {
  QStringList words;
  for (const RankSurprise& each : surprises) {
    const QString text = QString::fromStdString(each.surprise.words);
    words << (shown_.ranks.size() > 1 ? tr("rank %1, %2").arg(each.rank).arg(text) : text);
  }
  surprises_->setFullText(words.isEmpty()
                              ? tr("As predicted: no node differs by more than 1 % of the step")
                              : tr("Not as predicted: %1").arg(words.join(QStringLiteral("; "))));
}

std::vector<int> StepCard::stagesOf(const std::vector<int32_t>& ranks) const {
  std::vector<int> stages;
  for (const int32_t rank : ranks)
    stages.push_back(mesh_.size(recipe::kPp) > 1 ? mesh_.index(rank, recipe::kPp) : 0);
  return stages;
}

QString StepCard::placeOf(int64_t rank) const {
  QStringList parts;
  for (const recipe::Axis& axis : recipe::kAxes)
    if (mesh_.size(axis.dim) > 1)
      parts
          << QStringLiteral("%1%2").arg(QLatin1String(axis.brief)).arg(mesh_.index(rank, axis.dim));
  return parts.size() > 1 ? parts.join(QChar(' ')) : QString();
}

void StepCard::setProfiled(std::vector<int64_t> steps) {
  profiled_ = std::move(steps);
  showHead();
}

void StepCard::setStale(bool stale) {
  if (stale_ == stale) return;
  stale_ = stale;
  straggler_->setTone(stale ? Tone::muted : Tone::warn);
  if (!timeline_->rows().empty()) showRows();
}

void StepCard::go(int direction) {
  const auto at = std::lower_bound(profiled_.begin(), profiled_.end(), shown_.step);
  const auto index = at - profiled_.begin() + direction;
  if (index < 0 || index >= static_cast<std::ptrdiff_t>(profiled_.size())) return;
  const bool newest = index + 1 == static_cast<std::ptrdiff_t>(profiled_.size());
  Q_EMIT stepWanted(newest ? 0 : profiled_[static_cast<size_t>(index)]);
}

bool StepCard::isWide() const { return width() > 980; }

void StepCard::showHead() {
  setTitle(shown_.step > 0 ? tr("Step %1").arg(format::count(shown_.step)) : tr("Timeline"));
  const bool newest = profiled_.empty() || shown_.step >= profiled_.back();
  const auto position =
      std::lower_bound(profiled_.begin(), profiled_.end(), shown_.step) - profiled_.begin();
  setNote(shown_.step == 0 ? QString()
          : newest         ? tr("newest of %1")
                         .arg(format::plural(static_cast<qint64>(profiled_.size()),
                                             counted::kProfiledStep))
                   : tr("%1 of %2 profiled steps").arg(position + 1).arg(profiled_.size()));
  previous_->setEnabled(!profiled_.empty() && shown_.step > profiled_.front());
  next_->setEnabled(!newest);
  const auto slow = findStraggler(compute_, stagesOf(shown_.ranks));
  straggler_->setVisible(slow && isWide());  // in a narrow card the rank's own row says it
  if (slow) {
    straggler_->setText(tr("rank %1 computes %2 longer")
                            .arg(shown_.ranks[slow->index])
                            .arg(format::seconds(slow->behind)));
  }
}

void StepCard::showStatistics() {
  if (timeline_->rows().empty()) return statistics_->setText({});
  const Colors& c = colors();
  const Statistics s = meanOf(*timeline_, counted_);
  const auto part = [&](const QString& name, int64_t us, const QColor& color) {
    return QStringLiteral("<span style=\"color:%1\">%2</span> %3")
        .arg(c.muted.name(), name, colored(duration(us), color));
  };
  const QString over =
      timeline_->selection() ? tr("selection %1").arg(duration(timeline_->selection()->length()))
      : shows() == Shows::predicted ? tr("predicted")
      : shown_.ranks.size() > 1     ? tr("this step, mean of %1 ranks").arg(shown_.ranks.size())
                                    : tr("this step, rank %1").arg(shown_.ranks.front());
  const bool much = s.range > 0 && isMuchExposed(double(s.exposed) / double(s.range));
  // The parts in the order in which they go when there is no room; exposed matters most here.
  QList<QPair<int, QString>> parts{
      {0, QStringLiteral("<span style=\"color:%1\">%2</span>").arg(c.text.name(), over)},
      {1, part(tr("compute"), s.compute, c.text)},
      {5, part(tr("communication"), s.communication, c.text)},
      {3, part(tr("hidden"), s.overlapped, c.text)},
      {0, part(tr("exposed"), s.exposed, much ? c.badText : c.text)},
      {2, part(tr("incl. waiting"), s.waiting, c.text)},
      {1, part(tr("bubble"), s.bubble, c.text)},
      {4, part(tr("idle"), s.idle, c.text)}};
  if (s.bubble == 0) parts.removeAt(6);
  if (s.waiting == 0) parts.removeAt(5);
  const qsizetype count = parts.size();
  const auto text = [&] {
    QStringList texts;
    for (const auto& one : parts) texts << one.second;
    if (parts.size() < count)
      texts << QStringLiteral("<span style=\"color:%1\">%2</span>")
                   .arg(c.muted.name(), tr("+%1 more").arg(count - parts.size()));
    return QStringLiteral("<span style=\"font-size:12px\">%1</span>")
        .arg(texts.join(QStringLiteral(" &nbsp;&nbsp; ")));
  };
  const auto width = [this](const QString& html) {
    QTextDocument document;
    document.setDefaultFont(statistics_->font());
    document.setDocumentMargin(0);
    document.setHtml(html);
    return document.idealWidth();
  };
  const QString all = text();
  QTextDocument words;
  words.setHtml(all);
  while (parts.size() > 2 && width(text()) > statistics_->width())
    parts.erase(std::ranges::max_element(parts, {}, &QPair<int, QString>::first));
  statistics_->setText(text());
  statistics_->setToolTip(text() == all ? QString() : words.toPlainText());
}

void StepCard::resizeEvent(QResizeEvent* event) {
  Card::resizeEvent(event);
  fold();
  showHead();
}

/// A narrow card has a button for the search, which takes the legend's place, and one word for the
/// keys.
void StepCard::fold() {
  const bool wide = isWide();
  view_->tools()->setNarrow(!wide);
  legend_->setVisible(wide || !view_->tools()->isSearching());
  for (QLabel* hint : hints_) hint->setVisible(wide);
  keys_->setVisible(!wide);
}

bool StepCard::eventFilter(QObject* watched, QEvent* event) {
  if (watched == statistics_ && event->type() == QEvent::Resize) showStatistics();
  return Card::eventFilter(watched, event);
}

}  // namespace heddle::gui
