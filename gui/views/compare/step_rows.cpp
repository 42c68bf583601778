#include "gui/views/compare/step_rows.h"

#include <algorithm>
#include <cstdlib>

#include "gui/format.h"
#include "gui/theme/theme.h"

namespace heddle::gui {
namespace {

constexpr int kNotedRow = 100;  // of the whole: a hundredth is worth a colour

}  // namespace

void StepRows::setSteps(std::vector<workbench::Row> rows, const QString& leftName,
                        const QString& rightName) {
  std::vector<Row> all(1);
  all.front().name = tr("the step").toStdString();
  for (workbench::Row& each : rows) {
    Row row{std::move(each.name), each.left.total(), each.right.total(), each.right - each.left,
            each.left_spans + each.right_spans > 0};
    all.front().left += row.left;
    all.front().right += row.right;
    for (size_t i = 0; i < workbench::kParts; ++i)
      all.front().difference.us[i] += row.difference.us[i];
    all.push_back(std::move(row));
  }
  show(std::move(all), Unit::time, leftName, rightName);
}

void StepRows::setMemory(const plan::MemoryBytes& left, const plan::MemoryBytes& right,
                         const QString& leftName, const QString& rightName) {
  std::vector<Row> rows;
  for (size_t i = 0; i < plan::kCategories; ++i)
    if (left.bytes[i] != 0 || right.bytes[i] != 0)
      rows.push_back({plan::kCategoryNames[i], left.bytes[i], right.bytes[i], {}, false});
  std::stable_sort(rows.begin(), rows.end(), [](const Row& a, const Row& b) {
    return std::abs(a.right - a.left) > std::abs(b.right - b.left);
  });
  rows.insert(rows.begin(),
              {tr("at the peak").toStdString(), left.total(), right.total(), {}, false});
  show(std::move(rows), Unit::bytes, leftName, rightName);
}

void StepRows::clear() { show({}, Unit::time, {}, {}); }

void StepRows::show(std::vector<Row> rows, Unit unit, const QString& leftName,
                    const QString& rightName) {
  beginResetModel();
  rows_ = std::move(rows);
  unit_ = unit;
  leftName_ = leftName;
  rightName_ = rightName;
  endResetModel();
}

int StepRows::rowOf(const std::string& name) const {
  const auto found = std::ranges::find(rows_, name, &Row::name);
  return found == rows_.end() ? -1 : static_cast<int>(found - rows_.begin());
}

int StepRows::rowCount(const QModelIndex& parent) const {
  return parent.isValid() ? 0 : static_cast<int>(rows_.size());
}

// Memory has no parts of time.
int StepRows::columnCount(const QModelIndex& parent) const {
  if (parent.isValid() || rows_.empty()) return 0;
  return unit_ == Unit::bytes ? Compute : ColumnCount;
}

QString StepRows::amount(int64_t value) const {
  if (unit_ == Unit::bytes) return format::bytes(static_cast<double>(value));
  return format::seconds(static_cast<double>(value) * 1e-6);
}

QString StepRows::change(int64_t value) const {
  return value == 0 ? QString() : format::signedValue(amount(std::abs(value)), value < 0);
}

QVariant StepRows::data(const QModelIndex& index, int role) const {
  const Row& row = rows_[static_cast<size_t>(index.row())];
  const bool whole = index.row() == 0;
  const int column = index.column();
  const int64_t difference = row.right - row.left;
  switch (role) {
    case Qt::DisplayRole:
      if (column == Name) return QString::fromStdString(row.name);
      if (column == Left) return amount(row.left);
      if (column == Right) return amount(row.right);
      if (column == Difference) return difference == 0 ? amount(0) : change(difference);
      return change(row.difference.us[static_cast<size_t>(column - Compute)]);
    case Qt::ToolTipRole:
      return column == Name ? QString::fromStdString(row.name) : QVariant();
    case Qt::TextAlignmentRole:
      return QVariant(Qt::AlignVCenter | (column == Name ? Qt::AlignLeft : Qt::AlignRight));
    case Qt::FontRole:
      return column == Name && whole ? font::text(13, QFont::DemiBold)
             : column == Name        ? font::text()
                                     : font::mono(12, whole ? QFont::DemiBold : QFont::Normal);
    case Qt::ForegroundRole: {
      if (column > Difference) return colors().muted;
      if (column < Difference) return colors().text;
      const int64_t most = std::max(rows_.front().left, rows_.front().right);
      if (std::abs(difference) <= most / kNotedRow) return colors().muted;
      return difference > 0 ? colors().badText : colors().goodText;
    }
    case SpansRole:
      return row.spans;
    default:
      return {};
  }
}

QVariant StepRows::headerData(int section, Qt::Orientation orientation, int role) const {
  if (orientation == Qt::Vertical) return {};
  if (role == Qt::TextAlignmentRole)
    return QVariant(Qt::AlignVCenter | (section == Name ? Qt::AlignLeft : Qt::AlignRight));
  if (role == Qt::ToolTipRole && section > Difference) return tr("of the difference");
  if (role == Qt::ToolTipRole && section == Difference)
    return QStringLiteral("%1 − %2").arg(rightName_, leftName_);
  if (role == Qt::ToolTipRole) return section == Left ? leftName_ : rightName_;
  if (role != Qt::DisplayRole) return {};
  switch (section) {
    case Left:
      return leftName_;
    case Right:
      return rightName_;
    case Difference:
      return tr("difference");
    case Compute:
      return tr("compute");
    case Exposed:
      return tr("exposed");
    case Bubble:
      return tr("bubble");
    case Idle:
      return tr("idle");
    default:
      return QString();
  }
}

}  // namespace heddle::gui
