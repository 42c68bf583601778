#include "gui/views/runs/removal_dialog.h"

#include <QEvent>

#include "gui/format.h"
#include "gui/widgets/layouts.h"

namespace heddle::gui {
namespace {

constexpr int kHighestList = 360;  // a longer one is scrolled

QString textOf(const workbench::RunFolder& folder) {
  const QString path = QString::fromStdString(folder.path);
  const QString host = QString::fromStdString(folder.host);
  if (folder.bytes == 0) return QObject::tr("%1 on %2: already gone").arg(path, host);
  const QString text =
      QObject::tr("%1 on %2: %3").arg(path, host, format::bytes(double(folder.bytes)));
  if (folder.checkpoints == 0) return text;
  return QObject::tr("%1, with %2")
      .arg(text, format::plural(folder.checkpoints, counted::kCheckpoint));
}

QStringList linesOf(const workbench::Removal& removal) {
  QStringList lines{QObject::tr("%1 in the store: %2")
                        .arg(format::plural(removal.rows.records, counted::kRecord),
                             format::bytes(double(removal.rows.bytes)))};
  for (const workbench::RunFolder& folder : removal.folders) lines << textOf(folder);
  if (!removal.kept.empty())
    lines << QObject::tr("kept: %1, %2")
                 .arg(QString::fromStdString(removal.kept),
                      QString::fromStdString(removal.why_kept));
  return lines;
}

/// All in one line: "24,034 records (6.40 MiB), and 240 MiB in run directories on loom".
QString totalOf(const std::vector<workbench::Removal>& removals) {
  int64_t records = 0;
  double rows = 0, folders = 0;
  QStringList hosts;
  for (const workbench::Removal& removal : removals) {
    records += removal.rows.records;
    rows += double(removal.rows.bytes);
    for (const workbench::RunFolder& folder : removal.folders) {
      folders += double(folder.bytes);
      const QString host = QString::fromStdString(folder.host);
      if (folder.bytes > 0 && !hosts.contains(host)) hosts << host;
    }
  }
  const QString text = QObject::tr("%1 (%2) will be deleted from the store")
                           .arg(format::plural(records, counted::kRecord), format::bytes(rows));
  if (hosts.isEmpty()) return text + QObject::tr("; no run directory is deleted");
  return QObject::tr("%1, and %2 of run directories are deleted on %3")
      .arg(text, format::bytes(folders), hosts.join(QStringLiteral(", ")));
}

QString titleOf(const QList<NamedRun>& runs) {
  return runs.size() == 1
             ? QObject::tr("Delete %1 for good?").arg(runs.first().name)
             : QObject::tr("Delete %1 for good?").arg(format::plural(runs.size(), counted::kRun));
}

}  // namespace

RemovalDialog::RemovalDialog(Session& session, QList<NamedRun> runs, QWidget* parent)
    : Dialog(titleOf(runs), QStringLiteral("warning"), Tone::warn, parent),
      asking_(session.workingThreads(), this),
      runs_(std::move(runs)) {
  setMinimumWidth(560);
  summary_ = new QLabel(tr("Checking what would be deleted …"));
  summary_->setObjectName(QStringLiteral("summary"));
  summary_->setWordWrap(true);
  body()->addWidget(summary_);
  auto* content = new QWidget;
  list_ = new QVBoxLayout(content);
  list_->setContentsMargins(0, 0, 0, 0);
  list_->setSpacing(4);
  scroll_ = scrolled(content);
  scroll_->setAccessibleName(tr("Runs that go"));
  content->installEventFilter(this);
  body()->addWidget(scroll_, 1);
  body()->addWidget(line());
  body()->addWidget(muted(tr("This cannot be undone.")));
  QPushButton* cancel = quietButton(tr("Cancel"));
  go_ = dangerButton(tr("Delete for good"));
  go_->setObjectName(QStringLiteral("deleteForGood"));
  go_->setEnabled(false);
  addButton(cancel);
  addButton(go_);
  cancel->setDefault(true);
  cancel->setFocus();
  connect(cancel, &QPushButton::clicked, this, &QDialog::reject);
  connect(go_, &QPushButton::clicked, this, &QDialog::accept);
  session.work(
      asking_,
      [runs = runs_,
       path = session.storePath().toStdString()](workbench::Workbench&) -> Result<Found> {
        auto reader = storage::Reader::open(path);
        if (!reader) return fail(reader);
        Found found;
        for (const NamedRun& one : runs) {
          const auto run = reader->run(one.id);
          found.push_back(run ? workbench::removal_of(*reader, *run) : fail(run));
        }
        return found;
      },
      [this](const Result<Found>& found) {
        if (found) return display(*found);
        summary_->setText(QString::fromStdString(found.error().message));
      });
}

bool RemovalDialog::eventFilter(QObject* watched, QEvent* event) {
  if (watched == scroll_->widget() &&
      (event->type() == QEvent::LayoutRequest || event->type() == QEvent::Resize)) {
    const int needed = list_->hasHeightForWidth()
                           ? list_->totalHeightForWidth(scroll_->viewport()->width())
                           : list_->totalSizeHint().height();
    scroll_->setMinimumHeight(std::min(needed, kHighestList));
  }
  return Dialog::eventFilter(watched, event);
}

void RemovalDialog::display(const Found& found) {
  std::vector<workbench::Removal> removals;
  for (size_t i = 0; i < found.size(); ++i) {
    const NamedRun& run = runs_[static_cast<qsizetype>(i)];
    list_->addWidget(section(run.name));
    if (found[i]) {
      removable_.append(run.id);
      removals.push_back(*found[i]);
      for (const QString& text : linesOf(*found[i])) {
        QLabel* line = muted(text);
        line->setWordWrap(true);
        line->setTextInteractionFlags(Qt::TextSelectableByMouse);
        list_->addWidget(line);
      }
    } else {
      QLabel* why =
          label(tr("kept: %1").arg(QString::fromStdString(found[i].error().message)), "error");
      why->setWordWrap(true);
      list_->addWidget(why);
    }
    if (i + 1 < found.size()) list_->addSpacing(8);
  }
  list_->addStretch(1);
  summary_->setText(removals.empty() ? tr("Nothing can be deleted now.") : totalOf(removals));
  go_->setEnabled(!removals.empty());
  if (runs_.size() > 1)
    go_->setText(tr("Delete %1 for good").arg(format::plural(removable_.size(), counted::kRun)));
}

}  // namespace heddle::gui
