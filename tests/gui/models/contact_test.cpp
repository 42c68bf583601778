// The words about a run that is going on, by the age of its last word.
#include "gui/models/contact.h"

#include <QTemporaryDir>
#include <QTest>

#include "storage/lease.h"
#include "storage/writer.h"
#include "tests/support/results.h"
#include "tests/support/test_class.h"

using namespace heddle;
using namespace heddle::gui;
using Word = ContactLook::Word;

class ContactTest : public QObject {
  Q_OBJECT
 private Q_SLOTS:
  void what_is_said_of_a_cut_link_as_time_passes() {
    constexpr double kCut = 1'000'000;
    Contact contact{storage::Link{.heard = kCut}};
    QVERIFY(lookOf(contact, kCut + 1).fresh());
    const ContactLook quiet = lookOf(contact, kCut + 5);
    QCOMPARE(quiet.word, Word::quiet);
    QCOMPARE(quiet.tone, Tone::warn);
    QCOMPARE(quiet.text, QString("no response for 5 s"));
    contact.link->lost = kCut + 9;
    contact.link->next_try = kCut + 19;
    contact.link->reason = "node: no answer for 9 s";
    const ContactLook lost = lookOf(contact, kCut + 15);
    QCOMPARE(lost.word, Word::lost);
    QCOMPARE(lost.tone, Tone::bad);
    QCOMPARE(lost.text, QString("lost, no response for 15 s; reconnecting, next try in 4 s"));
    QCOMPARE(lookOf(contact, kCut + 60).text,
             QString("lost, no response for 60 s; reconnecting, trying now"));
    QCOMPARE(lookOf(contact, kCut + 600).text,
             QString("lost, no response for 10 min; reconnecting, trying now"));
    QVERIFY(lookOf({storage::Link{.heard = kCut + 61}}, kCut + 62).fresh());
    Contact waiting = contact;
    waiting.link =
        storage::Link{.heard = kCut, .waits = "waits in train for free nodes; position 3"};
    const ContactLook waits = lookOf(waiting, kCut + 1);
    QCOMPARE(waits.word, Word::waiting);
    QCOMPARE(waits.text, QString("waits in train for free nodes; position 3"));
    QCOMPARE(lookOf(storage::RunState::waiting, waits).icon,
             lookOf(storage::RunState::waiting).icon);
    waiting.link->reason = "squeue says: no";
    QCOMPARE(lookOf(waiting, kCut + 1).word, Word::silent);
    QCOMPARE(lookOf(waiting, kCut + 1).text, QString("squeue says: no"));
    waiting.link->reason.clear();
    // Silence is worse than waiting.
    QCOMPARE(lookOf(waiting, kCut + 5).word, Word::quiet);
    QCOMPARE(askedText("stopping", quiet), QString("stopping\u2026"));
    QCOMPARE(askedText("stopping", lost), QString("stopping once the connection is back"));
    QCOMPARE(askedText("", lost), QString());
  }

  void a_host_that_never_answered_has_no_last_word() {
    const Contact contact{storage::Link{.heard = 0, .lost = 10.0, .next_try = 20.0}};
    QCOMPARE(lookOf(contact, 11).text, QString("lost; reconnecting, next try in 9 s"));
  }

  void the_state_s_icon_changes_with_it() {
    const ContactLook lost = lookOf({storage::Link{.heard = 1, .lost = 2.0}}, 100);
    QCOMPARE(lookOf(storage::RunState::running, lost).icon, QString("unlinked"));
    QCOMPARE(lookOf(storage::RunState::running, lost).tone, Tone::bad);
    QCOMPARE(lookOf(storage::RunState::done, lost).icon, lookOf(storage::RunState::done).icon);
    QCOMPARE(lookOf(storage::RunState::running, ContactLook{}).icon,
             lookOf(storage::RunState::running).icon);
  }

  // Two processes may have one store open; the one that follows may go.
  void a_run_that_nobody_follows_is_told_apart() {
    QTemporaryDir folder;
    const std::string path = folder.filePath("store.sqlite").toStdString();
    auto writer = must(storage::Writer::open(path));
    storage::NewRun wanted;
    wanted.name = "alone";
    const storage::RunId id = must(writer->create_run(wanted).get()).id;
    must(writer->set_state(id, storage::RunState::running).get());
    must(writer->set_link(id, {.heard = unixNow() - 400}).get());
    auto reader = must(storage::Reader::open(path));
    const storage::RunSummary run = must(reader.run(id)).summary;
    const ContactLook alone = lookOf(must(readContacts(reader)).of(run), unixNow());
    QCOMPARE(alone.word, Word::unfollowed);
    QCOMPARE(alone.text, QString("not being followed, last update 6 min ago"));
    {
      const auto lease = must(storage::Lease::acquire(path));
      QCOMPARE(lookOf(must(readContacts(reader)).of(run), unixNow()).word, Word::quiet);
    }
    QCOMPARE(lookOf(must(readContacts(reader)).of(run), unixNow()).word, Word::unfollowed);

    // A run that has ended needs nobody, and has no link any more.
    must(writer->set_state(id, storage::RunState::done).get());
    must(writer->set_link(id, {.heard = unixNow()}).get());
    QVERIFY(must(reader.links()).empty());
    QVERIFY(lookOf(must(readContacts(reader)).of(must(reader.run(id)).summary), unixNow()).fresh());
  }

  void a_look_at_the_lease_takes_it_from_nobody() {
    QTemporaryDir folder;
    const std::string path = folder.filePath("store.sqlite").toStdString();
    QVERIFY(!must(storage::Lease::is_held(path)));
    for (int i = 0; i < 50; ++i) {
      const auto lease = must(storage::Lease::acquire(path));
      QVERIFY(must(storage::Lease::is_held(path)));
    }
    QVERIFY(!must(storage::Lease::is_held(path)));
  }
};

HEDDLE_TEST(ContactTest)
#include "contact_test.moc"
