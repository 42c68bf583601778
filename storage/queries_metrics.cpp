// Queries about the metrics of runs: from their summaries, whatever the length of the series.
#include "storage/connection.h"
#include "storage/queries.h"
#include "storage/run_rows.h"

namespace heddle::storage {
namespace {

#define HEDDLE_METRIC_SUMMARY \
  "count, nonfinite, last, last_flag, last_step, min, min_step, max, max_step, mean "

/// Its columns follow the first one.
MetricSummary metric_summary_in(const Rows& rows) {
  const auto real = [&](int column) { return number_of(rows.optional_real(column), 0); };
  return {.count = rows.integer(1),
          .nonfinite = rows.integer(2),
          .last = number_of(rows.optional_real(3), rows.integer(4)),
          .min = real(6),
          .max = real(8),
          .mean = real(10),
          .last_step = rows.integer(5),
          .min_step = rows.integer(7),
          .max_step = rows.integer(9)};
}

}  // namespace

Result<std::vector<std::string>> Reader::metric_names() {
  return guarded(*connection_, [&]() -> Result<std::vector<std::string>> {
    std::vector<std::string> names;
    Rows rows = connection_->query("SELECT name FROM metrics ORDER BY name");
    while (rows.next()) names.push_back(rows.text(0));
    return names;
  });
}

Result<std::map<RunId, MetricSummary>> Reader::metric_summaries(const std::string& name) {
  return guarded(*connection_, [&]() -> Result<std::map<RunId, MetricSummary>> {
    std::map<RunId, MetricSummary> summaries;
    Rows rows = connection_->query("SELECT run, " HEDDLE_METRIC_SUMMARY
                                   "FROM metric_summaries WHERE metric = "
                                   "(SELECT id FROM metrics WHERE name = ?) ORDER BY run",
                                   name);
    while (rows.next())
      summaries.emplace_hint(summaries.end(), rows.integer(0), metric_summary_in(rows));
    return summaries;
  });
}

Result<std::map<std::string, MetricSummary>> Reader::metric_summaries(RunId run) {
  return guarded(*connection_, [&]() -> Result<std::map<std::string, MetricSummary>> {
    std::map<std::string, MetricSummary> summaries;
    // Metrics outside: a seek each. The other way round reads the rows of all runs.
    Rows rows = connection_->query("SELECT name, " HEDDLE_METRIC_SUMMARY
                                   "FROM metrics CROSS JOIN metric_summaries "
                                   "ON metric = metrics.id AND run = ?",
                                   run);
    while (rows.next()) summaries.emplace(rows.text(0), metric_summary_in(rows));
    return summaries;
  });
}

}  // namespace heddle::storage
