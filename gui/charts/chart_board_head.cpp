// The row above a board's charts: another chart, views, columns.
#include <QActionGroup>
#include <QLabel>
#include <QLineEdit>
#include <QMenu>
#include <QPushButton>

#include "gui/charts/chart_board.h"
#include "gui/charts/metric_names.h"
#include "gui/session.h"
#include "gui/widgets/basics.h"
#include "gui/widgets/dialog.h"
#include "gui/widgets/layouts.h"
#include "gui/widgets/pick_list.h"

namespace heddle::gui {

void ChartBoard::makeHead() {
  head_ = new QWidget(this);
  auto* row = rowOf(head_, {}, 8);
  add_ = quietButton(tr("Add chart"), QStringLiteral("plus"));
  views_ = quietButton(tr("Views"));
  views_->setToolTip(tr("Views of these charts, columns, reset"));
  row->addWidget(add_);
  row->addWidget(views_);
  row->addStretch(1);
  empty_ = new QWidget(this);
  QVBoxLayout* column = columnOf(empty_, {}, 8);
  QPushButton* reset = quietButton(tr("Reset the charts"));
  reset->setObjectName(QStringLiteral("resetCharts"));
  connect(reset, &QPushButton::clicked, this, &ChartBoard::resetLayout);
  column->addStretch(1);
  column->addWidget(muted(tr("No chart is shown")), 0, Qt::AlignHCenter);
  column->addWidget(reset, 0, Qt::AlignHCenter);
  column->addStretch(1);
  empty_->hide();
  metrics_ = new PickList(tr("Find a metric"), this);
  connect(add_, &QPushButton::clicked, this, &ChartBoard::openMetrics);
  connect(views_, &QPushButton::clicked, this, &ChartBoard::openViews);
  connect(metrics_, &PickList::picked, this, [this](qint64 index) {
    ChartSpec spec{.metric = offered_[static_cast<size_t>(index)]};
    spec.x = cards_.empty() ? preferences().x : cards_.front()->spec().x;
    if (!cards_.empty()) spec.xMetric = cards_.front()->spec().xMetric;
    spec.aggregate = cards_.empty() || cards_.front()->spec().aggregate;
    spec.smoothing = cards_.empty() ? preferences().smoothing : cards_.front()->spec().smoothing;
    layout_.cards.push_back({.spec = spec});
    cards_.push_back(addCard(spec));
    changed();
    cards_.back()->setFocus();
  });
}

void ChartBoard::addTool(QWidget* tool) {
  auto* row = qobject_cast<QHBoxLayout*>(head_->layout());
  row->insertWidget(row->count() - 1, tool);
}

void ChartBoard::openMetrics() {
  std::vector<qint64> ids;
  for (const BoardRun& run : runs_) ids.push_back(run.id);
  session_.read(
      naming_, [ids](storage::Reader& reader) { return readMetrics(reader, ids); },
      [this](const Result<std::vector<std::string>>& names) {
        if (!names)
          return Q_EMIT session_.message(QString::fromStdString(names.error().message), Tone::bad);
        offer(*names);
      });
}

void ChartBoard::offer(const std::vector<std::string>& metrics) {
  if (metrics.empty())
    return Q_EMIT session_.message(tr("The runs shown have reported no metric yet"), Tone::muted);
  offered_ = metrics;
  std::vector<PickList::Item> items;
  for (size_t i = 0; i < metrics.size(); ++i)
    items.push_back({static_cast<qint64>(i), {}, textOfMetric(metrics[i])});
  metrics_->setItems(items, 0);
  metrics_->open(add_);
}

void ChartBoard::openViews() {
  auto* menu = new QMenu(this);
  menu->setAttribute(Qt::WA_DeleteOnClose);
  menu->setAccessibleName(tr("Views"));
  const QStringList names = kept_.names();
  for (const QString& name : names) {
    menu->addAction(name, this, [this, name] {
      if (const auto view = kept_.view(name)) setLayout(*view), changed();
    });
  }
  if (!names.isEmpty()) menu->addSeparator();
  if (kept_.keeps()) menu->addAction(tr("Save view as …"), this, &ChartBoard::saveView);
  if (!names.isEmpty()) {
    QMenu* removal = menu->addMenu(tr("Remove view"));
    for (const QString& name : names)
      removal->addAction(name, this, [this, name] { kept_.remove(name); });
  }
  QMenu* columns = menu->addMenu(tr("Columns"));
  auto* choices = new QActionGroup(columns);
  for (int count = 0; count <= BoardLayout::kMaxColumns; ++count) {
    QAction* choice = columns->addAction(count == 0 ? tr("automatic") : QString::number(count),
                                         this, [this, count] {
                                           layout_.columns = count;
                                           changed();
                                         });
    choice->setCheckable(true);
    choice->setChecked(layout_.columns == count);
    choices->addAction(choice);
  }
  menu->addSeparator();
  menu->addAction(tr("Reset the charts"), this, &ChartBoard::resetLayout);
  menu->popup(views_->mapToGlobal(QPoint(0, views_->height())));
}

void ChartBoard::saveView() {
  auto* dialog = new Dialog(tr("Save view"), {}, Tone::text, window());
  dialog->setAttribute(Qt::WA_DeleteOnClose);
  auto* name = new QLineEdit;
  name->setAccessibleName(tr("Name of the view"));
  name->setPlaceholderText(tr("Name of the view"));
  dialog->body()->addWidget(name);
  auto* cancel = quietButton(tr("Cancel"));
  auto* save = primaryButton(tr("Save"));
  save->setDefault(true);
  save->setEnabled(false);
  dialog->addButton(cancel);
  dialog->addButton(save);
  connect(name, &QLineEdit::textChanged, save,
          [save](const QString& typed) { save->setEnabled(!typed.trimmed().isEmpty()); });
  connect(cancel, &QPushButton::clicked, dialog, &QDialog::reject);
  connect(save, &QPushButton::clicked, dialog, &QDialog::accept);
  connect(dialog, &QDialog::accepted, this, [this, name] {
    kept_.save(name->text().trimmed(), layout_);
    Q_EMIT session_.message(tr("Saved the view %1").arg(name->text().trimmed()), Tone::good);
  });
  dialog->open();
  name->setFocus();
}

}  // namespace heddle::gui
