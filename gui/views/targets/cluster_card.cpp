#include "gui/views/targets/cluster_card.h"

#include <algorithm>

#include "base/clock.h"
#include "gui/format.h"
#include "gui/theme/theme.h"

namespace heddle::gui {
namespace {

using remote::ClusterNode;

constexpr size_t kMaxJobs = 8;
constexpr ClusterNode::Use kUses[] = {ClusterNode::Use::allocated, ClusterNode::Use::mixed,
                                      ClusterNode::Use::idle, ClusterNode::Use::draining,
                                      ClusterNode::Use::down};

/// "partition h100: 32 nodes, 8 idle; 64 of 256 GPUs free".
QString summaryOf(const workbench::ClusterNow& cluster) {
  int64_t idle = 0, gpus = 0, freeGpus = 0, cores = 0, freeCores = 0;
  for (const ClusterNode& node : cluster.nodes) {
    idle += node.use() == ClusterNode::Use::idle;
    gpus += node.gpus;
    cores += node.cores;
    if (!node.takes_jobs()) continue;
    freeGpus += node.gpus - node.gpus_used;
    freeCores += node.cores - node.cores_used;
  }
  const QString free = gpus > 0 ? QObject::tr("%1 of %2 GPUs free").arg(freeGpus).arg(gpus)
                                : QObject::tr("%1 of %2 cores free").arg(freeCores).arg(cores);
  return QObject::tr("partition %1: %2, %3 idle; %4")
      .arg(QString::fromStdString(cluster.partition),
           format::plural(static_cast<qint64>(cluster.nodes.size()), counted::kNode))
      .arg(idle)
      .arg(free);
}

/// The folder of a run of Heddle's; else nothing.
QString runOf(const remote::SlurmJob& job) {
  constexpr std::string_view kOurs = "heddle:";
  return job.comment.starts_with(kOurs) ? QString::fromStdString(job.comment.substr(kOurs.size()))
                                        : QString();
}

}  // namespace

ClusterCard::ClusterCard(QWidget* parent) : Card(tr("Slurm"), parent) {
  setObjectName(QStringLiteral("cluster"));
  nodes_ = new NodeGrid;
  legend_ = new QHBoxLayout;
  legend_->setSpacing(12);
  jobsTitle_ = section(tr("Your jobs"));
  jobs_ = new QVBoxLayout;
  jobs_->setSpacing(4);
  body()->setSpacing(8);
  body()->addWidget(nodes_);
  body()->addLayout(legend_);
  body()->addWidget(jobsTitle_);
  body()->addLayout(jobs_);
  hide();
}

void ClusterCard::setCluster(const std::optional<workbench::ClusterNow>& cluster) {
  setVisible(cluster.has_value());
  if (!cluster) return;
  setTitle(tr("Slurm %1").arg(QString::fromStdString(cluster->version)));
  setNote(summaryOf(*cluster));
  nodes_->setNodes(cluster->nodes);
  showLegend(cluster->nodes);
  showJobs(cluster->jobs);
}

void ClusterCard::showLegend(const std::vector<ClusterNode>& nodes) {
  clear(legend_);
  for (const ClusterNode::Use use : kUses) {
    const auto count = std::ranges::count(nodes, use, &ClusterNode::use);
    if (count == 0) continue;
    auto* text = new QLabel(QStringLiteral("<span style=\"color:%1\">■</span> %2 %3")
                                .arg(NodeGrid::colorOf(use).name(), NodeGrid::wordOf(use))
                                .arg(count));
    text->setTextFormat(Qt::RichText);
    legend_->addWidget(text);
  }
  legend_->addStretch(1);
}

void ClusterCard::showJobs(const std::vector<workbench::ClusterJob>& jobs) {
  clear(jobs_);
  jobsTitle_->setVisible(!jobs.empty());
  for (const workbench::ClusterJob& each : jobs) {
    if (jobs_->count() == static_cast<int>(kMaxJobs)) {
      jobs_->addWidget(muted(tr("and %1 more").arg(jobs.size() - kMaxJobs)));
      break;
    }
    const bool runs = each.job.phase() == remote::JobPhase::running;
    auto* row = new QWidget;
    auto* texts = new QHBoxLayout(row);
    texts->setContentsMargins(0, 0, 0, 0);
    texts->setSpacing(8);
    texts->addWidget(new StatusDot(runs ? Tone::good : Tone::warn, runs));
    texts->addWidget(mono(QString::fromStdString(each.job.id)));
    if (const QString run = runOf(each.job); !run.isEmpty()) texts->addWidget(new QLabel(run));
    texts->addWidget(
        new ElidedLabel(
            QString::fromStdString(remote::words_of(each.job, each.position, unix_now())), "muted"),
        1);
    jobs_->addWidget(row);
  }
}

}  // namespace heddle::gui
