#include "gui/models/contact.h"

#include <QDateTime>
#include <QObject>
#include <algorithm>
#include <cmath>

namespace heddle::gui {
namespace {

/// The follower notes an answer every two seconds or so; twice that is silence.
constexpr double kQuiet = 5;

}  // namespace

bool isFollowed(storage::RunState state) {
  return state == storage::RunState::running || state == storage::RunState::waiting;
}

double unixNow() { return static_cast<double>(QDateTime::currentMSecsSinceEpoch()) / 1000; }

QString ageText(double seconds) {
  seconds = std::max(seconds, 0.0);
  if (seconds < 120) return QObject::tr("%1 s").arg(std::floor(seconds));
  if (seconds < 7200) return QObject::tr("%1 min").arg(std::floor(seconds / 60));
  return QObject::tr("%1 h").arg(std::floor(seconds / 3600));
}

ContactLook lookOf(const Contact& contact, double now) {
  using Word = ContactLook::Word;
  const bool heard = contact.link && contact.link->heard > 0;
  const double age = heard ? now - contact.link->heard : 0;
  const QString silence = heard ? QObject::tr("no response for %1").arg(ageText(age)) : QString();
  if (!contact.followed) {
    const QString last =
        heard ? QObject::tr("not being followed, last update %1 ago").arg(ageText(age))
              : QObject::tr("not being followed");
    return {Word::unfollowed, Tone::warn, QObject::tr("This run is not being followed"), last};
  }
  if (contact.link && contact.link->lost) {
    const double wait = contact.link->next_try.value_or(now) - now;
    const QString next =
        wait > 0 ? QObject::tr("reconnecting, next try in %1").arg(ageText(std::ceil(wait)))
                 : QObject::tr("reconnecting, trying now");
    return {
        Word::lost, Tone::bad, QObject::tr("Connection lost"),
        heard ? QObject::tr("lost, %1; %2").arg(silence, next) : QObject::tr("lost; %1").arg(next)};
  }
  if (heard && age >= kQuiet)
    return {Word::quiet, Tone::warn, QObject::tr("No response for %1").arg(ageText(age)), silence};
  if (contact.link && !contact.link->reason.empty())
    return {Word::silent, Tone::warn, QObject::tr("The queue does not answer"),
            QString::fromStdString(contact.link->reason)};
  if (contact.link && !contact.link->waits.empty())
    return {Word::waiting, Tone::muted, QObject::tr("Its job waits"),
            QString::fromStdString(contact.link->waits)};
  return {};
}

StateLook lookOf(storage::RunState state, const ContactLook& contact) {
  const bool heard = contact.fresh() || contact.word == ContactLook::Word::waiting;
  return heard || !isFollowed(state) ? lookOf(state)
                                     : StateLook{QStringLiteral("unlinked"), contact.tone};
}

QString askedText(const QString& asked, const ContactLook& contact) {
  if (asked.isEmpty()) return {};
  return contact.word == ContactLook::Word::lost
             ? QObject::tr("%1 once the connection is back").arg(asked)
             : asked + QChar(0x2026);
}

Contact Contacts::of(const storage::RunSummary& run) const {
  if (!isFollowed(run.state)) return {};
  const auto link = links.find(run.id);
  return {link == links.end() ? std::nullopt : std::optional(link->second), followed};
}

Result<Contacts> readContacts(storage::Reader& reader) {
  Contacts contacts;
  auto links = reader.links();
  if (!links) return fail(links);
  contacts.links = std::move(*links);
  const auto followed = reader.followed();
  if (!followed) return fail(followed);
  contacts.followed = *followed;
  return contacts;
}

}  // namespace heddle::gui
