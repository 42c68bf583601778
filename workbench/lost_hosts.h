// A run that has lost a host goes on by itself, as often as its [restart] allows: as a new run,
// from its newest checkpoint, on all of its hosts where they answer again, else with spares in the
// lost ones' places or on fewer hosts. The store records the outcome, so that the next holder of
// the ingest lease takes it up.
//
// The lost hosts' ranks have no part in the new run: it has a directory, logs and a secret of its
// own, and what is left of the old run on hosts that answer is killed first.
#pragma once

#include <functional>
#include <stop_token>
#include <string>
#include <vector>

#include "storage/queries.h"
#include "storage/writer.h"
#include "workbench/place.h"

namespace heddle::workbench {

/// A run's lost hosts, from its environment.
struct Loss {
  std::vector<std::string> hosts;  // by name; empty: it lost none
  bool goes_on_soon = false;       // it will go on by itself, or is just doing so
  storage::RunId goes_on_as = 0;   // 0: it did not
};

Loss loss_of(const storage::RunDetail& run);

/// The hosts that a lost run can be resumed without, the likeliest choice first; its last is none
/// of them. Empty: it goes on where it was.
std::vector<std::vector<std::string>> choices_without(const storage::RunDetail& run);

/// For a run that is about to end as lost: the environment that it gets, and what happens next, in
/// words for its cause.
struct LossNote {
  storage::Values environment;
  std::string words;
};
LossNote note_loss(const storage::RunDetail& run, const Place& place,
                   const std::vector<std::string>& hosts);

/// Runs that are to go on by themselves.
Result<std::vector<storage::RunId>> runs_to_go_on(storage::Reader& reader);

/// Waits as long as [restart] says, then starts the run that goes on; the lost run's cause and both
/// logs say what it did, or why it could not. Hosts that do not answer yet are tried again for
/// minutes. Blocks; the writer must have the ingest lease.
void go_on_by_itself(const std::string& store_path, storage::Writer& writer, storage::RunId run,
                     const std::function<void()>& changed, std::stop_token stop);

/// A person does not want it to go on. False: it was not going to.
Result<bool> keep_from_going_on(storage::Writer& writer, const storage::RunDetail& run);

}  // namespace heddle::workbench
