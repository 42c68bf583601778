// Which of the compared runs belong together, so that charts draw them as their mean and range.
#pragma once

#include <QStringList>

#include "gui/views/compare/compared_keys.h"

namespace heddle::gui {

/// An entry a run: the group that the store has for it, a sweep for example; empty: none.
QStringList recordedGroups(const storage::Comparison& comparison);

/// Runs whose recipes are equal but for seeds; the name tells what is special about the group. A
/// run with no such sibling is in no group.
/// `differing`: the keys that differ.
QStringList seedGroups(const storage::Comparison& comparison,
                       const std::vector<ComparedKey>& differing);

/// Runs that have the same value.
QStringList groupsBy(const ComparedKey& key);

}  // namespace heddle::gui
