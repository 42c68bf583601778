#include "gui/views/compose/found_step.h"

#include <algorithm>

#include "gui/format.h"
#include "gui/theme/theme.h"
#include "gui/widgets/basics.h"
#include "gui/widgets/layouts.h"

namespace heddle::gui {
namespace {

const QString kFoundKey = QStringLiteral("found layout");

}  // namespace

FoundStep::FoundStep(PlanClient& client, QWidget* parent) : QWidget(parent), client_(client) {
  QVBoxLayout* column = columnOf(this, {}, 4);
  parts_ = new StackedBar(14);
  timeline_ = new TimelineStrip;
  timeline_->setObjectName(QStringLiteral("foundTimeline"));
  whose_ = caption({});
  whose_->setObjectName(QStringLiteral("foundRank"));
  column->addWidget(parts_);
  column->addWidget(timeline_);
  column->addWidget(whose_);
  connect(&client_, &PlanClient::planned, this,
          [this](const QString& key, const std::shared_ptr<const Prediction>& prediction) {
            take(key, *prediction);
          });
  const auto refused = [this](const QString& key, const QString& why) {
    if (key == kFoundKey && planned_) whose_->setText(tr("no timeline: %1").arg(why));
  };
  connect(&client_, &PlanClient::failed, this, refused);
  connect(&client_, &PlanClient::faulty, this,
          [refused](const QString& key, const std::vector<plan::Fault>& faults) {
            refused(key, QString::fromStdString(faults.front().text));
          });
}

void FoundStep::show(const plan::Found& found) {
  if (shown_ == found) return;
  shown_ = found;
  planned_ = false;
  timeline_->setTimeline(nullptr);
  whose_->clear();
  const auto part = [](const QString& name, double seconds, const QColor& color) {
    return StackedBar::Part{seconds, color,
                            QStringLiteral("%1 %2").arg(name, format::seconds(seconds))};
  };
  parts_->setParts({part(tr("compute"), found.compute_seconds, colors().compute),
                    part(tr("exposed communication"), found.exposed_seconds, colors().exposed),
                    part(tr("bubble"), found.bubble_seconds, colors().line)},
                   found.step_seconds);
}

void FoundStep::plan(const plan::SearchQuestion& question) {
  if (planned_ || !shown_) return;
  planned_ = true;
  whose_->setText(tr("planning the timeline …"));
  plan::PlanQuestion planned;
  static_cast<plan::Subject&>(planned) = question;
  planned.sets = shown_->sets;
  planned.timeline = true;
  planned.closes = false;
  client_.ask(kFoundKey, planned);
}

void FoundStep::take(const QString& key, const Prediction& prediction) {
  if (key != kFoundKey || !planned_) return;
  const plan::Document& document = prediction.document;
  const auto peak =
      std::ranges::find(document.timelines, document.peak_rank, &plan::RankTimeline::rank);
  if (peak == document.timelines.end()) return whose_->setText(tr("no timeline was planned"));
  timeline_->setTimeline(
      prediction.timelines[static_cast<size_t>(peak - document.timelines.begin())]);
  whose_->setText(tr("compute and communication of rank %1").arg(peak->rank));
}

}  // namespace heddle::gui
