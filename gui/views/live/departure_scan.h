// Looks through a run's steps for the first that leaves the prediction: a part of them at a time,
// and of a stretch whose extremes are as predicted nothing else. Plain data; on the session's
// reading thread.
#pragma once

#include <cstdint>

#include "base/result.h"
#include "gui/views/live/departure.h"
#include "storage/queries.h"

namespace heddle::gui {

class DepartureScan {
 public:
  /// Goes on from where the last call ended. `ended`: no more steps will come.
  Result<> goOn(storage::Reader& reader, const storage::RunDetail& run, bool ended);
  const Departures& found() const { return departures_; }
  /// Steps are left that the last call had no time for.
  bool more() const { return more_; }

 private:
  struct Stretch;
  Result<> look(storage::Reader& reader, const storage::RunDetail& run, Stretch stretch);
  Result<bool> mayDepart(storage::Reader& reader, const storage::RunDetail& run,
                         const Stretch& stretch) const;
  Result<> takeAll(storage::Reader& reader, const storage::RunDetail& run, const Stretch& stretch);
  bool isDone() const;

  Departures departures_;
  int64_t next_ = 1;  // the step to go on from
  int64_t left_ = 0;  // samples that this call may still read
  bool more_ = false;
};

}  // namespace heddle::gui
