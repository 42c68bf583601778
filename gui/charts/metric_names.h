// The metrics that runs report, to choose from.
#pragma once

#include <QString>
#include <string>
#include <vector>

#include "base/result.h"
#include "storage/queries.h"

namespace heddle::gui {

/// "gradient norm (grad_norm)", "data loading, seconds (data_seconds)".
QString textOfMetric(const std::string& name);

/// All that some of the runs report, the important ones first. On the session's reading thread.
Result<std::vector<std::string>> readMetrics(storage::Reader& reader,
                                             const std::vector<qint64>& runs);

}  // namespace heddle::gui
