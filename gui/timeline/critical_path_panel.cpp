#include "gui/timeline/critical_path_panel.h"

#include <algorithm>

#include "gui/format.h"
#include "gui/theme/theme.h"
#include "gui/timeline/span_text.h"

namespace heddle::gui {
namespace {

constexpr int kHurdleNumber = 72, kHurdleSpans = 52;

/// Ranks of one step, all of one run: those of the row that keys are about.
struct PathQuestion {
  std::vector<std::shared_ptr<const Timeline>> timelines;
  std::vector<size_t> rows;
  std::vector<int64_t> ranks;
  std::shared_ptr<const workbench::StepPlan> plan;
};

PathQuestion questionOf(const TimelineWidget& timeline) {
  PathQuestion question;
  const auto& rows = timeline.rows();
  if (rows.empty()) return question;
  const TimelineRow& about = rows[std::min(timeline.currentRow(), rows.size() - 1)];
  for (size_t i = 0; i < rows.size(); ++i) {
    const TimelineRow& row = rows[i];
    if (!row.timeline || row.run != about.run || (row.rank < 0 && &row != &about)) continue;
    question.rows.push_back(i);
    question.ranks.push_back(std::max<int64_t>(row.rank, 0));
    question.timelines.push_back(row.timeline);
  }
  question.plan = about.plan;
  return question;
}

struct PathAnswer {
  workbench::CriticalPath path;
  std::vector<PathMark> marks;
};

PathAnswer answerOf(const PathQuestion& question) {
  std::vector<std::vector<telemetry::Span>> spans;
  for (const auto& timeline : question.timelines) {
    auto all = timeline->lane(Stream::compute).spans();
    const auto& transfers = timeline->lane(Stream::communication).spans();
    all.insert(all.end(), transfers.begin(), transfers.end());
    std::ranges::stable_sort(all, {}, &telemetry::Span::start_us);
    spans.push_back(std::move(all));
  }
  std::vector<workbench::RankStep> steps;
  for (size_t i = 0; i < spans.size(); ++i) steps.push_back({question.ranks[i], &spans[i]});
  PathAnswer answer{workbench::critical_path(steps, question.plan.get()), {}};
  for (const workbench::PathPart& part : answer.path.parts) {
    if (part.span < 0) continue;
    const bool computes =
        spans[part.step][static_cast<size_t>(part.span)].stream == telemetry::kCompute;
    answer.marks.push_back(
        {{question.rows[part.step], computes ? Stream::compute : Stream::communication},
         {part.begin, part.end}});
  }
  return answer;
}

}  // namespace

void HurdleModel::setHurdles(std::vector<workbench::Hurdle> hurdles) {
  beginResetModel();
  hurdles_ = std::move(hurdles);
  endResetModel();
}

int HurdleModel::rowCount(const QModelIndex& parent) const {
  return parent.isValid() ? 0 : static_cast<int>(hurdles_.size());
}

int HurdleModel::columnCount(const QModelIndex& parent) const {
  return parent.isValid() ? 0 : ColumnCount;
}

QVariant HurdleModel::data(const QModelIndex& index, int role) const {
  const workbench::Hurdle& hurdle = hurdles_[static_cast<size_t>(index.row())];
  const int column = index.column();
  const bool words = column == Name || column == Next;
  switch (role) {
    case Qt::DisplayRole:
      switch (column) {
        case Name:
          return QString::fromStdString(hurdle.name);
        case OnPath:
          return duration(hurdle.on_path_us);
        case Spans:
          return format::count(hurdle.spans_on_path);
        case Faster:
          return hurdle.faster_us == 0 ? tr("0") : duration(hurdle.faster_us);
        case Next:
          return hurdle.next.empty() ? tr("nothing") : QString::fromStdString(hurdle.next);
        default:
          return hurdle.at_most_us == 0 ? tr("0") : duration(hurdle.at_most_us);
      }
    case Qt::ToolTipRole:
      return tr("%1 takes %2 of the path. With up to %3 less of it the step is as much shorter; "
                "then %4 is in the way. Without any of it the step would be %5 shorter.")
          .arg(QString::fromStdString(hurdle.name), duration(hurdle.on_path_us),
               duration(hurdle.faster_us),
               hurdle.next.empty() ? tr("nothing else") : QString::fromStdString(hurdle.next),
               duration(hurdle.at_most_us));
    case Qt::TextAlignmentRole:
      return QVariant(Qt::AlignVCenter | (words ? Qt::AlignLeft : Qt::AlignRight));
    case Qt::FontRole:
      return words ? font::text() : font::mono(12);
    case Qt::ForegroundRole:
      return words && column == Next ? colors().muted : colors().text;
    default:
      return {};
  }
}

QVariant HurdleModel::headerData(int section, Qt::Orientation orientation, int role) const {
  if (orientation == Qt::Vertical) return {};
  const bool words = section == Name || section == Next;
  if (role == Qt::TextAlignmentRole)
    return QVariant(Qt::AlignVCenter | (words ? Qt::AlignLeft : Qt::AlignRight));
  if (role == Qt::ToolTipRole) {
    const QStringList tips{tr("What would have to be faster"),
                           tr("Its time on the path"),
                           tr("Its spans on the path"),
                           tr("So much less of it makes the step as much shorter"),
                           tr("What is in the way from there on"),
                           tr("What the step gains if it takes no time at all")};
    return tips[section];
  }
  if (role != Qt::DisplayRole) return {};
  const QStringList names{tr("faster"), tr("on path"),         tr("spans"),
                          tr("by"),     tr("then in the way"), tr("at most")};
  return names[section];
}

CriticalPathPanel::CriticalPathPanel(TimelineWidget& timeline)
    : timeline_(timeline), job_(worker_, this) {
  title_ = new ElidedLabel({}, "mono-muted");
  title_->setObjectName(QStringLiteral("criticalPathOf"));
  auto* close = iconButton(QStringLiteral("close"), tr("Close the critical path"));
  connect(close, &QToolButton::clicked, this, &CriticalPathPanel::closed);
  auto* head = new QHBoxLayout;
  head->setContentsMargins(12, 4, 4, 4);
  head->addWidget(title_, 1);
  head->addWidget(close);
  table_ = new FigureTable(QStringLiteral("hurdles"),
                           tr("Critical path: what would have to be faster"), model_);
  table_->setFigureWidth(kHurdleNumber);
  table_->setColumnWidth(HurdleModel::Spans, kHurdleSpans);
  table_->stretch({HurdleModel::Name, HurdleModel::Next});
  auto* column = new QVBoxLayout(this);
  column->setContentsMargins(0, 0, 0, 0);
  column->setSpacing(0);
  column->addLayout(head);
  column->addWidget(table_, 1);
  connect(&timeline_, &TimelineWidget::rowsChanged, this, [this] {
    if (isVisible()) find();
  });
  connect(&timeline_, &TimelineWidget::currentRowChanged, this, [this] {
    const auto& rows = timeline_.rows();
    if (isVisible() && timeline_.currentRow() < rows.size() &&
        rows[timeline_.currentRow()].run != run_)
      find();
  });
}

void CriticalPathPanel::showEvent(QShowEvent* event) {
  QWidget::showEvent(event);
  find();
}

void CriticalPathPanel::hideEvent(QHideEvent* event) {
  QWidget::hideEvent(event);
  job_.drop();
  timeline_.setPath({});
}

void CriticalPathPanel::find() {
  PathQuestion question = questionOf(timeline_);
  const auto count = static_cast<qint64>(question.rows.size());
  const QString shown = count > 0 ? timeline_.rows()[question.rows.front()].title : QString();
  run_ = question.rows.empty() ? -1 : timeline_.rows()[question.rows.front()].run;
  title_->setFullText(tr("Finding the critical path …"));
  job_.start([question = std::move(question)] { return answerOf(question); },
             [this, count, shown](PathAnswer answer) {
               title_->setFullText(
                   answer.path.parts.empty() ? tr("No spans, no critical path")
                   : count == 1
                       ? tr("critical path of %1: %2").arg(shown, duration(answer.path.length_us))
                       : tr("critical path over %1 ranks: %2")
                             .arg(count)
                             .arg(duration(answer.path.length_us)));
               model_.setHurdles(std::move(answer.path.hurdles));
               timeline_.setPath(std::move(answer.marks));
             });
}

}  // namespace heddle::gui
