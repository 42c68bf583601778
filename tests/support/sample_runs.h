// A store with runs that look like real ones: curves, timelines, logs, results, ends of every kind.
// All goes through the store's writer, as the workbench does it.
#pragma once

#include <QList>
#include <QString>
#include <QTemporaryDir>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "storage/lease.h"
#include "storage/run.h"

namespace heddle::samples {

struct Filled {
  storage::RunId whole = 0;      // done; wrapping "auto"
  storage::RunId unwrapped = 0;  // done; wrapping "none", slower
  storage::RunId running = 0;    // at step 120 of 300
  storage::RunId failed = 0;     // with a cause
  storage::RunId stopped = 0;
};

/// Fills the store at `path` (made when absent) with five runs of two ranks.
Result<Filled> fill(const std::string& path);

/// Adds so many ended runs of few steps, with names, recipes and results that differ; their ids.
Result<std::vector<storage::RunId>> fillMany(const std::string& path, int runs);

/// A filled store in a folder of its own. Its lease is taken: nobody follows the run that "runs",
/// which has no host that could be asked.
class SampleStore {
 public:
  SampleStore();
  QString path() const { return folder.filePath(QStringLiteral("runs.sqlite")); }

  QTemporaryDir folder;
  Filled runs;

 private:
  std::optional<storage::Lease> lease_;
};

/// A store of many runs in a folder of its own.
class ManyRuns {
 public:
  explicit ManyRuns(int runs);
  QString path() const { return folder.filePath(QStringLiteral("runs.sqlite")); }

  QTemporaryDir folder;
  QList<qint64> ids;
};

}  // namespace heddle::samples
