// Rows of the runs table, as plain data.
#pragma once

#include <QDateTime>
#include <QString>
#include <QVector>
#include <optional>
#include <vector>

#include "gui/format.h"
#include "gui/models/contact.h"
#include "storage/queries.h"

namespace heddle::gui {

struct RunRow {
  storage::RunSummary summary;
  std::optional<double> stepsPlanned;
  std::optional<double> peakBytes;     // until it has ended: its newest step's
  std::optional<double> exposedShare;  // of the run's median step, 0 to 1: see Exposed
  std::optional<double> bestLoss;
  QVector<double> curve;  // the loss, at most 60 points
  Contact contact;        // of a running run

  QString name() const { return format::spelled(summary.name); }
  QDateTime created() const;
  /// Steps that it has trained itself: one that goes on from another's checkpoint counts on from
  /// there.
  int64_t trained() const;
  /// From start to finish, or to now; nullopt before the start.
  std::optional<double> seconds() const;
  /// The run's contact at this moment; its figures are grey unless that is fresh.
  ContactLook contactLook() const { return lookOf(contact, unixNow()); }
};

/// Where a run is kept.
enum class RunPlace { list, archive, trash };

/// All runs that are kept there, newest first.
Result<std::vector<RunRow>> readRunRows(storage::Reader& reader, RunPlace place = RunPlace::list);

}  // namespace heddle::gui
