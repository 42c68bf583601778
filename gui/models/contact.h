// How recently a run that is going on was heard of: the words that every page shows next to its
// state. Pages show the figures of a run out of contact in grey.
#pragma once

#include <QString>
#include <map>
#include <optional>

#include "gui/models/state_look.h"
#include "storage/queries.h"

namespace heddle::gui {

struct Contact {
  std::optional<storage::Link> link;  // none: nobody has followed it yet
  bool followed = true;               // by this or another process
};

struct ContactLook {
  // waiting: for its job. silent: the batch system is, the run's logs come.
  enum class Word { fresh, waiting, silent, quiet, lost, unfollowed };
  Word word = Word::fresh;
  Tone tone = Tone::good;
  QString title;  // "Connection lost"; empty while fresh
  QString text;   // "lost, no word for 50 s; reconnecting, next try in 4 s"; empty while fresh
  bool fresh() const { return word == Word::fresh; }
};

/// Whether somebody should hear of a run in this state: it runs, or its job waits.
bool isFollowed(storage::RunState state);
/// `now`: Unix seconds.
ContactLook lookOf(const Contact& contact, double now);
/// The state of a run together with its contact.
StateLook lookOf(storage::RunState state, const ContactLook& contact);
/// A run's pending request, "stopping": "stopping …", or that it waits for the connection. Empty:
/// there is none.
QString askedText(const QString& asked, const ContactLook& contact);
/// Unix seconds.
double unixNow();
/// Whole units, as one counts them: 7 s, 3 min, 2 h.
QString ageText(double seconds);

/// All runs' at once.
struct Contacts {
  std::map<storage::RunId, storage::Link> links;
  bool followed = true;
  /// A run that is being prepared or has ended needs none: its look is fresh.
  Contact of(const storage::RunSummary& run) const;
};
Result<Contacts> readContacts(storage::Reader& reader);

}  // namespace heddle::gui
