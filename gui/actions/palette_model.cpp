#include "gui/actions/palette_model.h"

#include <algorithm>

namespace heddle::gui {

int fitness(const QString& typed, const QString& text) {
  int score = 1;
  qsizetype at = -1;
  for (const QChar wanted : typed) {
    if (wanted.isSpace()) continue;
    const qsizetype found = text.indexOf(wanted, at + 1, Qt::CaseInsensitive);
    if (found < 0) return 0;
    const bool begins = found == 0 || !text[found - 1].isLetterOrNumber();
    score += (found == at + 1 ? 4 : 0) + (begins ? 6 : 0);
    at = found;
  }
  return score + (text.contains(typed, Qt::CaseInsensitive) ? 20 : 0);
}

void PaletteModel::setEntries(std::vector<PaletteEntry> entries) {
  entries_ = std::move(entries);
  filter();
}

void PaletteModel::setTyped(const QString& typed) {
  typed_ = typed.trimmed();
  filter();
}

void PaletteModel::filter() {
  beginResetModel();
  std::vector<std::pair<int, size_t>> found;
  for (size_t i = 0; i < entries_.size(); ++i) {
    const PaletteEntry& entry = entries_[i];
    if (!entry.possible && typed_.isEmpty()) continue;
    const int score = std::max(fitness(typed_, entry.text),
                               fitness(typed_, entry.group + QChar(' ') + entry.text) / 2);
    if (score > 0) found.emplace_back(score, i);
  }
  const auto rank = [this](const auto& match) {
    return std::pair(entries_[match.second].possible, match.first);
  };
  std::stable_sort(found.begin(), found.end(),
                   [&](const auto& a, const auto& b) { return rank(a) > rank(b); });
  shown_.clear();
  for (const auto& [score, entry] : found) shown_.push_back(entry);
  endResetModel();
}

void PaletteModel::run(int row) const {
  if (row >= 0 && row < rowCount()) entries_[shown_[static_cast<size_t>(row)]].run();
}

int PaletteModel::rowCount(const QModelIndex& parent) const {
  return parent.isValid() ? 0 : static_cast<int>(shown_.size());
}

QVariant PaletteModel::data(const QModelIndex& index, int role) const {
  if (!checkIndex(index, CheckIndexOption::IndexIsValid)) return {};
  const PaletteEntry& entry = entries_[shown_[static_cast<size_t>(index.row())]];
  switch (role) {
    case Qt::DisplayRole:
      return entry.text;
    case Qt::DecorationRole:
      return entry.icon;
    case GroupRole:
      return entry.group;
    case ShortcutRole:
      return entry.shortcut;
    case PossibleRole:
      return entry.possible;
    case Qt::AccessibleDescriptionRole:
      return entry.possible ? entry.group : tr("%1, not possible now").arg(entry.group);
    default:
      return {};
  }
}

}  // namespace heddle::gui
