// The store through which ranks of several hosts meet: real sockets on loopback, each rank's handle
// as its process would have it; and strangers who knock.
#include "engine/transport/rendezvous_store.h"

#include <sys/resource.h>

#include <QTest>
#include <fstream>
#include <future>
#include <random>

#include "engine/transport/door.h"
#include "tests/support/test_class.h"

using namespace heddle;
using namespace heddle::transport;
using std::chrono::milliseconds;
using std::chrono::seconds;

namespace {

using Store = c10::intrusive_ptr<RendezvousStore>;

Credentials of_run(char digit = 'a', bool encrypt = false) {
  return {*Secret::from_hex(std::string(64, digit)), "run/0", encrypt};
}

StoreValue bytes(const std::string& text) { return {text.begin(), text.end()}; }

int64_t resident_kib() {
  std::ifstream file("/proc/self/statm");
  int64_t size = 0, resident = 0;
  file >> size >> resident;
  return resident * 4;
}

template <typename Call>
QString error_of(Call call) {
  try {
    call();
  } catch (const c10::Error& error) {
    return QString::fromStdString(error.what_without_backtrace());
  } catch (const std::exception& error) {
    return QString::fromStdString(error.what());
  }
  return "no error";
}

}  // namespace

class RendezvousStoreTest : public QObject {
  Q_OBJECT

 private:
  uint16_t port_ = 0;

  Result<Store> host(int size, const Credentials& credentials = of_run()) {
    auto listener = listen_on("127.0.0.1", 0);
    if (!listener) return fail(listener);
    port_ = listener->port();
    return RendezvousStore::host(std::move(*listener), credentials, size, seconds(20));
  }
  Result<Store> join(int rank, const Credentials& credentials = of_run()) const {
    return RendezvousStore::join("127.0.0.1", port_, credentials, rank, seconds(20));
  }
  Result<Socket> stranger() const { return connect_to("127.0.0.1", port_, seconds(5)); }

  // All ranks of a run, met.
  std::vector<Store> meet(int size, bool encrypt = false) {
    std::vector<Store> ranks;
    for (int rank = 0; rank < size; ++rank) {
      auto store = rank == 0 ? host(size, of_run('a', encrypt)) : join(rank, of_run('a', encrypt));
      if (!store) qFatal("%s", store.error().message.c_str());
      ranks.push_back(*store);
    }
    return ranks;
  }

 private Q_SLOTS:
  void what_one_sets_the_others_get_data() {
    QTest::addColumn<bool>("encrypt");
    QTest::newRow("in clear") << false;
    QTest::newRow("encrypted") << true;
  }
  void what_one_sets_the_others_get() {
    QFETCH(bool, encrypt);
    const auto ranks = meet(3, encrypt);
    ranks[1]->set("most", StoreValue(kMaxValueBytes, 'x'));  // of many records
    QVERIFY(ranks[2]->get("most") == StoreValue(kMaxValueBytes, 'x'));
    QVERIFY(ranks[0]->deleteKey("most"));
    for (size_t rank = 0; rank < 3; ++rank) {
      const std::string key = "key/" + std::to_string(rank);
      ranks[rank]->set(key, bytes(std::string(100'000, char('a' + rank)) + key));
    }
    for (const Store& reader : ranks)
      for (size_t rank = 0; rank < 3; ++rank) {
        const std::string key = "key/" + std::to_string(rank);
        QVERIFY(reader->get(key) == bytes(std::string(100'000, char('a' + rank)) + key));
      }
    QCOMPARE(ranks[1]->getNumKeys(), 3);
    QVERIFY(ranks[2]->check({"key/0", "key/1"}));
    QVERIFY(!ranks[2]->check({"key/0", "key/7"}));
    QVERIFY(ranks[1]->deleteKey("key/0"));
    QVERIFY(!ranks[0]->deleteKey("key/0"));
    QCOMPARE(ranks[0]->add("count", 5), 5);
    QCOMPARE(ranks[1]->add("count", -7), -2);
    QCOMPARE(ranks[2]->add("count", 1), -1);
    QCOMPARE(ranks[0]->get_to_str("count"), std::string("-1"));
    // The first who fails is heard: nothing is expected to be there.
    QVERIFY(ranks[2]->compareSet("error", bytes(""), bytes("rank 2")) == bytes("rank 2"));
    QVERIFY(ranks[1]->compareSet("error", bytes(""), bytes("rank 1")) == bytes("rank 2"));
    QVERIFY(ranks[1]->compareSet("error", bytes("rank 2"), bytes("x")) == bytes("x"));
    QVERIFY(ranks[0]->compareSet("none", bytes("some"), bytes("x")) == bytes("some"));
  }

  void both_encrypt_or_neither() {
    for (const bool joins : {false, true}) {
      const auto first = host(2, of_run('a', !joins));
      QVERIFY(first);
      const auto second = join(1, of_run('a', joins));
      QVERIFY(!second);
      const auto said = QString::fromStdString(second.error().message);
      QVERIFY2(said.contains(QString("transport.encrypt is %1 on rank 1 and %2 on rank 0")
                                 .arg(joins ? "true" : "false", joins ? "false" : "true")),
               qPrintable(said));
    }
  }

  void one_that_waits_holds_up_nobody() {
    const auto ranks = meet(2);
    auto waits = std::async(std::launch::async, [&] { return ranks[1]->get("late"); });
    const auto clone = ranks[1]->clone();  // the same connection
    for (int i = 0; i < 50; ++i) clone->set("other", bytes(std::to_string(i)));
    QVERIFY(waits.wait_for(milliseconds(300)) == std::future_status::timeout);
    ranks[0]->set("late", bytes("here"));
    QVERIFY(waits.get() == bytes("here"));
  }

  void what_nobody_sets_is_an_error() {
    const auto ranks = meet(2);
    for (const Store& rank : ranks) {
      rank->setTimeout(milliseconds(250));
      QVERIFY(error_of([&] { rank->get("never"); }).contains("nobody has set never within 250 ms"));
      QVERIFY(
          error_of([&] { rank->wait({"never"}, milliseconds(20)); }).contains("nobody has set"));
      rank->set("after", bytes("all is well"));
      QVERIFY(rank->get("after") == bytes("all is well"));
    }
  }

  void too_much_is_refused() {
    const auto ranks = meet(2);
    const StoreValue most(kMaxValueBytes, 'x');
    QVERIFY(error_of([&] {
              ranks[1]->set(std::string(257, 'k'), bytes(""));
            }).contains("takes no key of 257"));
    StoreValue more = most;
    more.push_back('x');
    QVERIFY(error_of([&] { ranks[1]->set("key", more); }).contains("bytes"));
    QString refused = "no error";
    for (int i = 0; i < 100 && refused == "no error"; ++i)
      refused = error_of([&] { ranks[1]->set(std::to_string(i), most); });
    QVERIFY2(refused.contains("the ranks keep more than 67108864 bytes"), qPrintable(refused));
    QCOMPARE(ranks[0]->getNumKeys(), 63);
    // One goes, another finds room.
    QVERIFY(ranks[0]->deleteKey("0"));
    QCOMPARE(error_of([&] { ranks[1]->set("64", most); }), "no error");
    QVERIFY(error_of([&] { ranks[1]->add("64", 1); }).contains("is no number"));
  }

  void nothing_listens_once_all_have_come() {
    auto first = host(3);
    QVERIFY(first);
    const auto second = join(1);
    QVERIFY(stranger());
    const auto third = join(2);
    QVERIFY(second && third);
    (*first)->set("met", bytes("all"));
    QVERIFY((*third)->get("met") == bytes("all"));
    QTRY_VERIFY(!stranger());
  }

  void one_that_lost_its_connection_calls_again() {
    auto first = host(3);
    QVERIFY(first);
    { const auto lost = join(1); }
    const auto again = join(1);
    QVERIFY(again);
    const auto third = join(2);
    QVERIFY(third);
    (*again)->set("key", bytes("value"));
    QVERIFY((*third)->get("key") == bytes("value"));
  }

  void without_rank_0_there_is_no_store() {
    auto ranks = meet(2);
    ranks[0]->set("key", bytes("value"));
    ranks[0].reset();
    QVERIFY(error_of([&] { ranks[1]->get("key"); }).contains("rank 0 cannot be asked"));
    QVERIFY(error_of([&] { ranks[1]->check({"key"}); }).contains("rank 0 cannot be asked"));
  }

  // The attacks that a store without authentication had let through: reading, joining, steering,
  // filling. Each ends before a word of the store's own is read.
  void who_lacks_the_secret_reads_joins_and_fills_nothing() {
    auto first = host(2);
    QVERIFY(first);
    (*first)->set("weights are at", bytes("10.0.0.1"));
    const auto impostor = join(1, of_run('b'));
    QVERIFY(!impostor);
    QVERIFY(impostor.error().message.find("it does not know this run's secret") !=
            std::string::npos);

    const int64_t before = resident_kib();
    // A request as ranks send it, LibTorch's own store, an endless value, random bytes.
    const std::string tcp_store("\x00\x3c\x85\xf7\x00\x00\x00\x00get", 11);
    const auto request = to_frame(StoreRequest{.key = "weights are at"});
    std::mt19937 random(3);
    std::string noise(1 << 16, '\0');
    for (char& each : noise) each = static_cast<char>(random());
    for (const std::string& words : {tcp_store, std::string(request.begin(), request.end()), noise,
                                     std::string(1 << 20, '\xff')})
      for (int i = 0; i < 50; ++i) {
        const auto attacker = stranger();
        QVERIFY(attacker);
        if (!send_all(*attacker, words.data(), words.size())) continue;  // cut off in the middle
        // No word comes back; the silence ends with the handshake's time or at once.
        char answer = 0;
        if (words.size() > 128) QVERIFY(!receive_all(*attacker, &answer, 1, seconds(10)));
      }
    QVERIFY2(resident_kib() - before < 8 * 1024, "memory grows with what strangers send");

    const auto second = join(1);
    QVERIFY2(second, second ? "" : second.error().message.c_str());
    QVERIFY((*second)->get("weights are at") == bytes("10.0.0.1"));
  }

  // More idle callers than there is room for, and more silent ones after them: ranks get in.
  void idle_strangers_hold_up_nobody() {
    rlimit limit{};
    getrlimit(RLIMIT_NOFILE, &limit);
    const auto wanted = static_cast<rlim_t>(3000 + 600);
    if (limit.rlim_cur < wanted) {
      limit.rlim_cur = std::min(wanted, limit.rlim_max);
      setrlimit(RLIMIT_NOFILE, &limit);
    }
    const int strangers = std::min<int>(3000, static_cast<int>(limit.rlim_cur) - 600);
    auto first = host(3);
    QVERIFY(first);
    std::vector<Socket> idle;
    for (int i = 0; i < strangers; ++i) {
      auto each = stranger();
      QVERIFY2(each, each ? "" : each.error().message.c_str());
      idle.push_back(std::move(*each));
    }
    const auto second = join(1), third = join(2);
    QVERIFY2(second && third, second ? "" : second.error().message.c_str());
    (*second)->set("key", bytes("value"));
    QVERIFY((*third)->get("key") == bytes("value"));
    QTRY_VERIFY(!stranger());
  }

  // Only so many silent callers are kept; the first to come go first.
  void strangers_make_room_for_each_other() {
    auto first = host(2);
    QVERIFY(first);
    std::vector<Socket> idle;
    for (size_t i = 0; i < Door::kStrangers + 50; ++i) idle.push_back(std::move(*stranger()));
    char answer = 0;
    const auto oldest = receive_all(idle.front(), &answer, 1, seconds(4));
    QVERIFY(!oldest);
    QCOMPARE(QString::fromStdString(oldest.error().message),
             QString("cannot receive: the connection has ended"));
    const auto newest = receive_all(idle.back(), &answer, 1, milliseconds(50));
    QVERIFY(!newest);
    QCOMPARE(QString::fromStdString(newest.error().message),
             QString("cannot receive: no answer in time"));
  }

  void any_bytes_are_a_request_or_none() {
    std::mt19937 random(5);
    const auto whole = to_frame(StoreRequest{.call = StoreCall::compare_set,
                                             .wait_ms = 9,
                                             .key = "key",
                                             .value = bytes("value"),
                                             .expected = bytes("expected")});
    const std::vector<uint8_t> rest(whole.begin() + kLengthBytes, whole.end());
    const auto read = request_from(rest);
    QVERIFY(read && read->key == "key" && read->value == bytes("value") &&
            read->expected == bytes("expected") && read->wait_ms == 9);
    for (size_t size = 0; size < rest.size(); ++size)
      QVERIFY(!request_from(std::span(rest).first(size)));
    for (int i = 0; i < 20000; ++i) {
      auto spoilt = rest;
      for (int changes = 0; changes < 1 + i % 3; ++changes)
        spoilt[random() % spoilt.size()] = static_cast<uint8_t>(random());
      (void)request_from(spoilt);
      (void)reply_from(spoilt);
    }
    const auto with = [](size_t key, size_t value) {
      const auto frame = to_frame(StoreRequest{.call = StoreCall::set,
                                               .key = std::string(key, 'k'),
                                               .value = std::vector<uint8_t>(value)});
      return request_from(std::span(frame).subspan(kLengthBytes)).has_value();
    };
    QVERIFY(with(kMaxKeyBytes, kMaxValueBytes));
    QVERIFY(!with(kMaxKeyBytes + 1, 1));
    QVERIFY(!with(1, kMaxValueBytes + 1));
    QVERIFY(!frame_length(std::vector<uint8_t>{0xff, 0xff, 0xff, 0x7f}));
  }
};

HEDDLE_TEST(RendezvousStoreTest)
#include "rendezvous_store_test.moc"
