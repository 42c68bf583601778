// The words of a handshake, without a socket: who knows the secret gets in, who lacks any part of
// what is proven does not.
#include "engine/transport/handshake.h"

#include <QTest>
#include <random>

#include "tests/support/test_class.h"

using namespace heddle;
using transport::Contact;
using transport::Credentials;
using transport::Handshake;

namespace {

constexpr const char* kNotKnown =
    "it does not know this run's secret, or is reached under another address than the one that it "
    "listens on (address translation), which the proof covers";

Credentials credentials(char digit = 'a', const std::string& run = "run/0") {
  return {*Secret::from_hex(std::string(64, digit)), run};
}

Address address(uint8_t last = 1, uint16_t port = 4711) {
  Address at;
  at.ip[15] = last;
  at.port = port;
  return at;
}

const Contact kContact{.topic = "store", .caller = 3, .answerer = 0, .lane = 1};

// The two sides talk until one of them has had enough: the caller's word, then the answerer's.
struct Talk {
  Handshake caller, answerer;
  std::string error = {};
  int words = 0;

  bool run(size_t spoilt_word = 99, size_t spoilt_byte = 0) {
    Handshake::Bytes word = caller.hello();
    for (Handshake* side = &answerer; !word.empty();
         side = side == &answerer ? &caller : &answerer) {
      if (size_t(words++) == spoilt_word) word[spoilt_byte % word.size()] ^= 1;
      if (word.size() != side->awaits()) return error = "length", false;
      auto next = side->take(word);
      if (!next) return error = next.error().message, false;
      word = *next;
    }
    return caller.done() && answerer.done();
  }
};

Talk talk(const Credentials& calls, const Credentials& answers, const Contact& contact = kContact,
          const Address& called = address(), const Address& reached = address()) {
  return {*Handshake::calling(calls, contact, called),
          *Handshake::answering(answers, "store", 0, reached)};
}

}  // namespace

class HandshakeTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void both_know_the_secret() {
    Talk both = talk(credentials(), credentials());
    QVERIFY2(both.run(), both.error.c_str());
    QCOMPARE(both.words, 4);
    QCOMPARE(both.answerer.caller(), 3);
    QCOMPARE(both.answerer.lane(), 1);
  }

  void what_differs_is_turned_away_data() {
    QTest::addColumn<int>("what");
    QTest::addColumn<QString>("why");
    const QString other = "the caller is of another run, or wants another rank";
    QTest::newRow("the secret") << 0 << kNotKnown;
    QTest::newRow("the run") << 1 << other;
    QTest::newRow("the topic") << 2 << other;
    QTest::newRow("the rank that is called") << 3 << other;
    QTest::newRow("the address: passed on by another machine") << 4 << kNotKnown;
    QTest::newRow("the port") << 5 << kNotKnown;
  }
  void what_differs_is_turned_away() {
    QFETCH(int, what);
    QFETCH(QString, why);
    Contact contact = kContact;
    if (what == 2) contact.topic = "links";
    if (what == 3) contact.answerer = 2;
    Talk strangers =
        talk(what == 0   ? credentials('b')
             : what == 1 ? credentials('a', "run/1")
                         : credentials(),
             credentials(), contact, address(what == 4 ? 2 : 1), address(1, what == 5 ? 1 : 4711));
    QVERIFY(!strangers.run());
    QCOMPARE(QString::fromStdString(strangers.error), why);
  }

  // Each side learns from the other's proof that they want it otherwise, and no keys are made.
  void both_seal_or_neither() {
    for (const bool calls : {false, true}) {
      Credentials caller = credentials(), answerer = credentials();
      caller.encrypt = calls;
      answerer.encrypt = !calls;
      Talk unlike = talk(caller, answerer);
      QVERIFY(!unlike.run());
      QCOMPARE(QString::fromStdString(unlike.error),
               QString("transport.encrypt is %1 on rank 3 and %2 on rank 0; all hosts of a run "
                       "need the same recipe")
                   .arg(calls ? "true" : "false", calls ? "false" : "true"));
      QCOMPARE(unlike.answerer.awaits(), size_t(0));
      QVERIFY(!unlike.answerer.done() && !unlike.answerer.keys() && !unlike.caller.keys());
    }
  }

  void keys_are_of_one_connection_and_one_direction() {
    Credentials sealed = credentials();
    sealed.encrypt = true;
    Talk clear = talk(credentials(), credentials()), one = talk(sealed, sealed),
         other = talk(sealed, sealed);
    QVERIFY(clear.run() && one.run() && other.run());
    QVERIFY(!clear.caller.keys() && !clear.answerer.keys());
    QVERIFY(one.caller.keys()->out.bytes == one.answerer.keys()->in.bytes);
    QVERIFY(one.caller.keys()->in.bytes == one.answerer.keys()->out.bytes);
    QVERIFY(one.caller.keys()->in.bytes != one.caller.keys()->out.bytes);
    QVERIFY(one.caller.keys()->out.bytes != other.caller.keys()->out.bytes);
  }

  // One bit of any word at any place, whatever follows.
  void a_bit_that_is_changed_on_the_way_ends_it() {
    for (const bool encrypt : {false, true})
      for (size_t word = 0; word < 4; ++word)
        for (size_t byte = 0; byte < 128; ++byte) {
          Credentials both = credentials();
          both.encrypt = encrypt;
          Talk spoilt = talk(both, both);
          QVERIFY2(!spoilt.run(word, byte),
                   qPrintable(QString("word %1, byte %2").arg(word).arg(byte)));
        }
  }

  // Words of one handshake are of no use in another: both sides' nonces are new.
  void words_said_before_prove_nothing() {
    const auto caller = Handshake::calling(credentials(), kContact, address());
    auto heard = talk(credentials(), credentials());
    const auto hello = heard.caller.hello();
    const auto answer = heard.answerer.take(hello);
    const auto call = heard.caller.take(*answer);
    auto again = *Handshake::answering(credentials(), "store", 0, address());
    QVERIFY(again.take(hello));
    QVERIFY(!again.take(*call));
    auto deceived = *Handshake::calling(credentials(), kContact, address());
    QVERIFY(!deceived.take(*answer));
  }

  // An answerer's own proof, sent back to it.
  void a_mirror_proves_nothing() {
    auto answerer = *Handshake::answering(credentials(), "store", 0, address());
    const auto caller = Handshake::calling(credentials('b'), kContact, address());
    const auto answer = answerer.take(caller->hello());
    QVERIFY(answer);
    QVERIFY(!answerer.take(std::span(*answer).last(32)));
    QVERIFY(!answerer.done());
  }

  void any_bytes_are_taken_and_none_let_in() {
    std::mt19937 random(7);
    for (int i = 0; i < 2000; ++i) {
      auto answerer = *Handshake::answering(credentials(), "store", 0, address());
      Handshake::Bytes word(answerer.awaits());
      const Handshake::Bytes hello =
          Handshake::calling(credentials('b'), kContact, address())->hello();
      for (size_t at = 0; at < word.size(); ++at)
        word[at] = i % 2 ? hello[at] : static_cast<uint8_t>(random());
      if (!answerer.take(word)) continue;
      QVERIFY(i % 2);
      for (uint8_t& byte : word) byte = static_cast<uint8_t>(random());
      QVERIFY(!answerer.take(std::span(word).first(answerer.awaits())));
    }
    auto answerer = *Handshake::answering(credentials(), "store", 0, address());
    QVERIFY(!answerer.take({}));
    QVERIFY(!answerer.take(Handshake::Bytes(answerer.awaits() + 1)));
  }
};

HEDDLE_TEST(HandshakeTest)
#include "handshake_test.moc"
