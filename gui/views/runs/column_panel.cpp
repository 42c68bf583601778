#include "gui/views/runs/column_panel.h"

#include <QScreen>
#include <QStyledItemDelegate>
#include <algorithm>

#include "engine/telemetry/metrics.h"
#include "gui/theme/theme.h"
#include "gui/widgets/basics.h"
#include "gui/widgets/layouts.h"
#include "gui/widgets/list_keys.h"
#include "gui/widgets/search_field.h"

namespace heddle::gui {
namespace {

constexpr int kColumnKey = Qt::UserRole;
constexpr int kPanelWide = 420, kPanelHigh = 460;
constexpr int kUsualTail = 100;

/// Keys that are facts of a run, and no columns of the standard table.
constexpr const char* kMoreFacts[] = {"age", "notes", "group", "parent"};

/// Items as wide as the list: long names are elided instead of scrolled.
class ColumnDelegate : public QStyledItemDelegate {
 public:
  using QStyledItemDelegate::QStyledItemDelegate;
  QSize sizeHint(const QStyleOptionViewItem& option, const QModelIndex& index) const override {
    return {0, QStyledItemDelegate::sizeHint(option, index).height()};
  }
};

}  // namespace

ColumnPanel::ColumnPanel(Session& session, QWidget* parent)
    : QFrame(parent, Qt::Popup), session_(session), reading_(session.readingThread(), this) {
  setObjectName(QStringLiteral("columnPanel"));
  setProperty("role", "popup");
  field_ = new SearchField(tr("Find a column: lr, best loss, gpu …"));
  list_ = new QListView;
  list_->setObjectName(QStringLiteral("columnList"));
  list_->setAccessibleName(tr("Columns"));
  matching_.setSourceModel(&items_);
  matching_.setFilterCaseSensitivity(Qt::CaseInsensitive);
  list_->setModel(&matching_);
  list_->setUniformItemSizes(true);
  list_->setEditTriggers(QAbstractItemView::NoEditTriggers);
  list_->setTextElideMode(Qt::ElideMiddle);
  list_->setItemDelegate(new ColumnDelegate(list_));
  list_->setFocusPolicy(Qt::NoFocus);
  tail_ = new QSpinBox;
  tail_->setObjectName(QStringLiteral("tailSamples"));
  tail_->setAccessibleName(tr("Samples at the end of a metric"));
  tail_->setToolTip(
      tr("The list has each metric's mean and best value over its last samples: so many"));
  tail_->setRange(1, static_cast<int>(workbench::kMaxTail));
  tail_->setValue(kUsualTail);
  tail_->setGroupSeparatorShown(true);
  connect(tail_, &QSpinBox::valueChanged, this, &ColumnPanel::fill);
  QPushButton* reset = linkButton(tr("Reset columns"));
  QVBoxLayout* column = columnOf(this, {8, 8, 8, 8}, 8);
  column->addWidget(field_);
  column->addWidget(list_, 1);
  auto* foot = new QWidget;
  QHBoxLayout* row = rowOf(foot, {}, 8);
  QLabel* name = muted(tr("mean and best of the last"));
  name->setBuddy(tail_);
  row->addWidget(name);
  row->addWidget(tail_);
  row->addStretch(1);
  row->addWidget(reset);
  column->addWidget(foot);
  setFocusProxy(field_);
  connect(field_, &QLineEdit::textChanged, this, [this](const QString& typed) {
    matching_.setFilterFixedString(typed);
    list_->setCurrentIndex(matching_.index(0, 0));
  });
  connect(list_, &QListView::clicked, this, &ColumnPanel::toggle);
  connect(reset, &QPushButton::clicked, this, [this] {
    hide();
    Q_EMIT resetWanted();
  });
  new ListKeys(field_, list_, [this](const QModelIndex& index) { toggle(index); });
}

void ColumnPanel::add(const QString& key, const QString& part, const QString& label) {
  auto* item =
      new QStandardItem(label == key || label.isEmpty() ? tr("%1: %2").arg(part, key)
                                                        : tr("%1: %2   %3").arg(part, label, key));
  item->setToolTip(item->text());
  item->setData(key, kColumnKey);
  item->setCheckState(shown_.contains(key) ? Qt::Checked : Qt::Unchecked);
  item->setCheckable(false);  // a click anywhere in the line toggles it
  items_.appendRow(item);
}

/// Its aggregates over all samples, and over the last.
void ColumnPanel::addMetric(const std::string& metric) {
  const bool hasBest = telemetry::metric(metric).better != telemetry::Better::neither;
  const auto addKey = [&](const workbench::MetricKey& key) {
    const std::string text = workbench::to_string(key);
    add(QString::fromStdString(text), tr("metric"),
        QString::fromStdString(workbench::label_of(text)));
  };
  for (const std::string_view aggregate : workbench::aggregates())
    if (aggregate != "best" || (hasBest && metric != "loss"))
      addKey({std::string(aggregate), metric});
  addKey({"mean", metric, tail_->value()});
  if (hasBest) addKey({"best", metric, tail_->value()});
  for (const QString& shown : shown_)  // of another number
    if (const auto key = workbench::metric_key(shown.toStdString());
        key && key->metric == metric && key->tail > 0 && key->tail != tail_->value())
      addKey(*key);
}

void ColumnPanel::fill() {
  items_.clear();
  for (const auto& [key, label] : builtIn_) add(key, tr("run"), label);
  for (const char* key : kMoreFacts) add(QString::fromLatin1(key), tr("run"), {});
  for (const std::string& name : keys_.columns) {
    const qsizetype dot = static_cast<qsizetype>(name.find('.'));
    const QString key = QString::fromStdString(name);
    add(key, key.left(dot), QString::fromStdString(workbench::label_of(name)));
  }
  // First those that Heddle knows, the most important first.
  std::vector<std::string> metrics = keys_.metrics;
  std::ranges::stable_sort(metrics, {},
                           [](const std::string& name) { return telemetry::order_of(name); });
  for (const std::string& metric : metrics) addMetric(metric);
  list_->setCurrentIndex(matching_.index(0, 0));
}

void ColumnPanel::open(QWidget* at, const QList<std::pair<QString, QString>>& builtIn,
                       const QSet<QString>& shown) {
  builtIn_ = builtIn;
  shown_ = shown;
  field_->clear();
  keys_ = {};
  fill();
  session_.read(
      reading_, [](storage::Reader& reader) { return workbench::read_keys(reader); },
      [this](Result<workbench::RunKeys> keys) {
        if (!keys) return;
        keys_ = std::move(*keys);
        fill();
      });
  const QRect room = at->screen()->availableGeometry();
  resize(kPanelWide, std::min(kPanelHigh, room.height() - 2 * metric::edge));
  QPoint where = at->mapToGlobal(QPoint(0, at->height() + metric::within));
  where.setX(std::clamp(where.x(), room.left(), std::max(room.left(), room.right() - width())));
  where.setY(std::clamp(where.y(), room.top(), std::max(room.top(), room.bottom() - height())));
  move(where);
  show();
  field_->setFocus();
}

void ColumnPanel::toggle(const QModelIndex& index) {
  if (!index.isValid()) return;
  QStandardItem* item = items_.itemFromIndex(matching_.mapToSource(index));
  const bool shown = item->checkState() != Qt::Checked;
  const QString key = item->data(kColumnKey).toString();
  item->setCheckState(shown ? Qt::Checked : Qt::Unchecked);
  shown ? void(shown_.insert(key)) : void(shown_.remove(key));
  Q_EMIT columnChosen(key, shown);
}

}  // namespace heddle::gui
