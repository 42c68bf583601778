// The files that git tracks in this repository, as the form checks see them.
#pragma once

#include <QString>
#include <QStringList>

namespace heddle::repository {

/// Paths from the repository's root, sorted, those that are still there. Empty when git fails.
QStringList tracked_files();

/// The whole file; empty for one that holds a zero byte.
QString text_of(const QString& path);

/// C++ headers and sources.
bool is_cpp(const QString& path);

}  // namespace heddle::repository
