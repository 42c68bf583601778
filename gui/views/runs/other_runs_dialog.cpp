#include "gui/views/runs/other_runs_dialog.h"

#include <QFileInfo>
#include <algorithm>

#include "gui/format.h"
#include "gui/widgets/layouts.h"
#include "gui/widgets/list_keys.h"
#include "workbench/importers/heddle_store.h"

namespace heddle::gui {
namespace {

constexpr int kOtherRunsWidth = 560, kOtherRunsHeight = 300;

}  // namespace

OtherRunsDialog::OtherRunsDialog(const QString& store, const std::vector<storage::RunSummary>& runs,
                                 bool compares, QWidget* parent)
    : Dialog(tr("Runs of %1").arg(format::spelled(QFileInfo(store).fileName().toStdString())),
             QStringLiteral("runs"), Tone::accent, parent),
      store_(store),
      compares_(compares),
      model_(this) {
  setObjectName(QStringLiteral("otherRuns"));
  setMinimumWidth(kOtherRunsWidth);
  std::vector<storage::RunSummary> ended;
  for (const storage::RunSummary& run : runs)
    if (storage::has_ended(run.state) && !run.trashed) ended.push_back(run);
  const auto going = std::ranges::count_if(
      runs, [](const auto& run) { return !storage::has_ended(run.state) && !run.trashed; });
  if (!compares)
    for (const storage::RunSummary& run : ended) ticked_.insert(run.id);
  model_.setRuns(std::move(ended), ticked_);

  auto* field = new SearchField(tr("Find a run"));
  list_ = new QListView;
  list_->setModel(&model_);
  list_->setUniformItemSizes(true);
  list_->setTextElideMode(Qt::ElideMiddle);
  list_->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
  list_->setAccessibleName(tr("Runs of the other store"));
  list_->setEditTriggers(QAbstractItemView::NoEditTriggers);
  list_->setMinimumHeight(kOtherRunsHeight);
  list_->setCurrentIndex(model_.index(0, 0));
  all_ = linkButton({});
  all_->setObjectName(QStringLiteral("tickListed"));
  QString words =
      tr("Copies of the ticked runs come into this window's store. The other store is "
         "only read.");
  if (going > 0)
    words += tr(" %1 not listed: a run can be copied when it has ended.")
                 .arg(format::plural(going, counted::kRun));
  QLabel* note = muted(words);
  note->setWordWrap(true);
  auto* head = new QHBoxLayout;
  head->addWidget(field, 1);
  head->addWidget(all_);
  body()->addLayout(head);
  body()->addWidget(list_, 1);
  body()->addWidget(note);

  QPushButton* cancel = quietButton(tr("Cancel"));
  connect(cancel, &QPushButton::clicked, this, &QDialog::reject);
  addButton(cancel);
  accept_ = primaryButton({});
  accept_->setObjectName(QStringLiteral("takeRuns"));
  connect(accept_, &QPushButton::clicked, this, [this] {
    QStringList paths;
    QList<qint64> ids = ticked_.values();
    std::ranges::sort(ids);
    for (const qint64 id : ids)
      paths << QString::fromStdString(workbench::path_of_run(store_.toStdString(), id));
    accept();
    Q_EMIT chosen(paths);
  });
  addButton(accept_);

  connect(field, &QLineEdit::textChanged, this, [this](const QString& typed) {
    model_.setTyped(typed);
    list_->setCurrentIndex(model_.index(0, 0));
    count();
  });
  connect(&model_, &RunChoices::ticked, this, [this](qint64 run, bool on) {
    on ? (void)ticked_.insert(run) : (void)ticked_.remove(run);
    count();
  });
  connect(list_, &QListView::clicked, this, &OtherRunsDialog::toggle);
  connect(all_, &QPushButton::clicked, this, &OtherRunsDialog::toggleListed);
  new ListKeys(field, list_, [this](const QModelIndex& index) { toggle(index); });
  count();
  field->setFocus();
}

void OtherRunsDialog::toggle(const QModelIndex& index) {
  const bool on = index.data(Qt::CheckStateRole).toInt() == Qt::Checked;
  model_.setData(index, on ? Qt::Unchecked : Qt::Checked, Qt::CheckStateRole);
}

void OtherRunsDialog::toggleListed() {
  bool all = true;
  for (int row = 0; row < model_.rowCount(); ++row)
    all = all && ticked_.contains(model_.run(row).id);
  for (int row = 0; row < model_.rowCount(); ++row)
    model_.setData(model_.index(row, 0), all ? Qt::Unchecked : Qt::Checked, Qt::CheckStateRole);
}

void OtherRunsDialog::count() {
  const QString runs = format::plural(ticked_.size(), counted::kRun);
  accept_->setText(compares_ ? tr("Compare %1").arg(runs) : tr("Import %1").arg(runs));
  accept_->setEnabled(!ticked_.isEmpty());
  all_->setText(tr("Tick all %1").arg(format::count(model_.rowCount())));
  all_->setAccessibleName(tr("Tick or untick all that are listed"));
  all_->setEnabled(model_.rowCount() > 0);
}

}  // namespace heddle::gui
