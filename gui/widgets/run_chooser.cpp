#include "gui/widgets/run_chooser.h"

#include <QScreen>
#include <QVBoxLayout>
#include <algorithm>
#include <numeric>

#include "gui/format.h"
#include "gui/theme/theme.h"
#include "gui/widgets/basics.h"
#include "gui/widgets/list_keys.h"

namespace heddle::gui {

void RunChoices::setRuns(std::vector<storage::RunSummary> runs, QSet<qint64> ticked) {
  beginResetModel();
  runs_ = std::move(runs);
  ticked_ = std::move(ticked);
  shown_.resize(runs_.size());
  std::iota(shown_.begin(), shown_.end(), size_t{0});
  endResetModel();
}

void RunChoices::setTyped(const QString& typed) {
  const QStringList words = typed.split(QChar(' '), Qt::SkipEmptyParts);
  beginResetModel();
  shown_.clear();
  for (size_t i = 0; i < runs_.size(); ++i) {
    const storage::RunSummary& run = runs_[i];
    const QString text = QString::fromStdString(run.name + ' ' + run.recipe_name + ' ' +
                                                run.target + ' ' + to_string(run.state));
    if (std::all_of(words.begin(), words.end(),
                    [&](const QString& word) { return text.contains(word, Qt::CaseInsensitive); }))
      shown_.push_back(i);
  }
  endResetModel();
}

int RunChoices::rowCount(const QModelIndex& parent) const {
  return parent.isValid() ? 0 : static_cast<int>(shown_.size());
}

QVariant RunChoices::data(const QModelIndex& index, int role) const {
  if (!checkIndex(index, CheckIndexOption::IndexIsValid)) return {};
  const storage::RunSummary& of = run(index.row());
  switch (role) {
    case Qt::DisplayRole:
      return QStringLiteral("%1   %2, %3")
          .arg(format::spelled(of.name), format::spelled(of.recipe_name),
               QString::fromStdString(to_string(of.state)));
    case Qt::CheckStateRole:
      return ticked_.contains(of.id) ? Qt::Checked : Qt::Unchecked;
    case Qt::ToolTipRole:
      return tr("%1, on %2, %3")
          .arg(format::spelled(of.name), format::spelled(of.target),
               format::when(QDateTime::fromSecsSinceEpoch(static_cast<qint64>(of.created))));
    default:
      return {};
  }
}

bool RunChoices::setData(const QModelIndex& index, const QVariant& value, int role) {
  if (role != Qt::CheckStateRole) return false;
  const qint64 id = run(index.row()).id;
  const bool on = value.toInt() == Qt::Checked;
  if (on)
    ticked_.insert(id);
  else
    ticked_.remove(id);
  Q_EMIT dataChanged(index, index, {Qt::CheckStateRole});
  Q_EMIT ticked(id, on);
  return true;
}

RunChooser::RunChooser(QWidget* parent) : QFrame(parent, Qt::Popup), model_(this) {
  setObjectName(QStringLiteral("runChooser"));
  setProperty("role", "popup");
  setAttribute(Qt::WA_DeleteOnClose);
  field_ = new SearchField(tr("Find a run"));
  list_ = new QListView;
  list_->setModel(&model_);
  list_->setUniformItemSizes(true);
  list_->setTextElideMode(Qt::ElideMiddle);
  list_->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
  list_->setAccessibleName(tr("Runs"));
  list_->setEditTriggers(QAbstractItemView::NoEditTriggers);
  count_ = caption({});
  auto* layout = new QVBoxLayout(this);
  layout->setContentsMargins(8, 8, 8, 8);
  layout->setSpacing(8);
  layout->addWidget(field_);
  layout->addWidget(list_);
  layout->addWidget(count_);
  resize(380, 420);
  connect(field_, &QLineEdit::textChanged, this, [this](const QString& typed) {
    model_.setTyped(typed);
    list_->setCurrentIndex(model_.index(0, 0));
    count();
  });
  connect(&model_, &RunChoices::ticked, this, &RunChooser::ticked);
  connect(list_, &QListView::clicked, this, [this](const QModelIndex& index) { toggle(index); });
  new ListKeys(field_, list_, [this](const QModelIndex& index) { toggle(index); });
}

void RunChooser::setRuns(std::vector<storage::RunSummary> runs, QSet<qint64> ticked) {
  model_.setRuns(std::move(runs), std::move(ticked));
  list_->setCurrentIndex(model_.index(0, 0));
  count();
}

void RunChooser::toggle(const QModelIndex& index) {
  const bool on = index.data(Qt::CheckStateRole).toInt() == Qt::Checked;
  model_.setData(index, on ? Qt::Unchecked : Qt::Checked, Qt::CheckStateRole);
}

void RunChooser::count() {
  count_->setText(model_.all() == 0 ? tr("No run has ended a step yet")
                                    : tr("%1 of %2; Enter ticks, Esc closes")
                                          .arg(model_.rowCount())
                                          .arg(format::plural(model_.all(), counted::kRun)));
}

void RunChooser::open(const QWidget* at) {
  const QRect room = parentWidget()->screen()->availableGeometry();
  QRect place(at->mapToGlobal(QPoint(0, at->height() + 4)), size());
  place.moveLeft(std::max(room.left(), std::min(place.left(), room.right() - width())));
  place.moveTop(std::max(room.top(), std::min(place.top(), room.bottom() - height())));
  setGeometry(place);
  show();
  field_->setFocus();
}

}  // namespace heddle::gui
