// A run on two hosts that strangers attack from their first moment on: what they send ends at the
// handshake, the run trains as if nothing were, and its secret is found nowhere.
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <QDir>
#include <QDirIterator>
#include <QFile>
#include <QJsonArray>
#include <QProcess>
#include <QSet>
#include <QTemporaryDir>
#include <QTest>

#include "engine/transport/door.h"
#include "engine/transport/store_values.h"
#include "tests/support/engine_process.h"
#include "tests/support/files.h"
#include "tests/support/test_class.h"

using namespace heddle;
using heddle::test::read_bytes;
using heddle::test::write_bytes;
using std::chrono::milliseconds;
using std::chrono::seconds;
using transport::Handshake;

namespace {

constexpr const char* kText = "\x1b[31mthis text came from a stranger\n";

// All processes of this machine that name the folder in their arguments.
QStringList processes_of(const QString& folder) {
  QStringList pids;
  for (const QString& pid : QDir("/proc").entryList(QDir::Dirs))
    if (pid.toInt() > 0 && read_bytes("/proc/" + pid + "/cmdline").contains(folder.toUtf8()))
      pids << pid;
  return pids;
}

// The sockets that a process listens on, as its network's table has them.
QStringList listening(const QString& pid) {
  QSet<QByteArray> own;
  const QDir fds("/proc/" + pid + "/fd");
  for (const QString& fd : fds.entryList(QDir::NoFilter))
    own << QFile::symLinkTarget(fds.filePath(fd)).section('/', -1).toUtf8();
  QStringList found;
  for (const char* table : {"tcp", "tcp6"})
    for (const QByteArray& line : read_bytes("/proc/" + pid + "/net/" + table).split('\n')) {
      const QByteArrayList words = line.simplified().split(' ');
      if (words.size() > 9 && words[3] == "0A" && own.contains("socket:[" + words[9] + "]"))
        found << words[1];
    }
  return found;
}

int64_t resident_kib(const QString& pid) {
  return read_bytes("/proc/" + pid + "/statm").split(' ').value(1).toLongLong() * 4;
}

}  // namespace

class AttackTest : public QObject {
  Q_OBJECT

 private:
  QTemporaryDir folder_;
  QString run_;
  uint16_t port_ = 0;
  std::unique_ptr<Secret> secret_;

  QString run_dir(int host) { return folder_.filePath(QString("%1-%2").arg(run_).arg(host)); }

  // Two hosts: the second has process ids of its own, so that it is reached over TCP.
  bool prepare(const QString& run, int steps) {
    run_ = run;
    secret_ = std::make_unique<Secret>(*Secret::make());
    port_ = uint16_t(20000 + (getpid() + 7 * int(run.size())) % 20000);
    for (int host : {0, 1}) {
      const QJsonObject launch{{"run", run},
                               {"world_size", 2},
                               {"first_rank", host},
                               {"local_ranks", 1},
                               {"rendezvous_host", "127.0.0.1"},
                               {"rendezvous_port", port_},
                               {"grace_seconds", 5.0}};
      const QByteArray recipe = QByteArray(small_recipe(R"(
[training]
steps = STEPS
local_batch = 1
[checkpoint]
enabled = false
[hardware]
ranks = 2
)"))
                                    .replace("STEPS", QByteArray::number(steps));
      if (!QDir().mkpath(run_dir(host)) || !write_bytes(run_dir(host) + "/recipe.toml", recipe) ||
          !write_bytes(run_dir(host) + "/launch.json", QJsonDocument(launch).toJson()))
        return false;
    }
    return true;
  }

  EngineResult start_first() {
    return run_engine({"supervise", "--run-dir", run_dir(0), "--secret-stdin"}, handed_over());
  }

  void start_second() {
    const QString script = QString(
                               "'%1/heddle-engine' supervise --run-dir '%2' --secret-stdin; "
                               "until [ -e '%2/end.json' ]; do sleep 0.1; done")
                               .arg(HEDDLE_BINARY_DIR, run_dir(1));
    auto* shell = new QProcess(this);
    shell->start("unshare", {"--pid", "--fork", "--kill-child", "sh", "-c", script});
    shell->write(handed_over());
    shell->closeWriteChannel();
  }

  QByteArray handed_over() const { return QByteArray::fromStdString(secret_->hex()) + "\n"; }

  QByteArray end_of(int host) {
    const QString end = run_dir(host) + "/end.json";
    if (!QTest::qWaitFor([&] { return QFile::exists(end); }, 120000))
      return "no end.json; " + read_bytes(run_dir(host) + "/supervisor.err") +
             read_bytes(run_dir(host) + QString("/rank-%1.err").arg(host));
    return read_bytes(end);
  }

  QString rank_0() {
    for (const QString& pid : processes_of(run_dir(0)))
      if (read_bytes("/proc/" + pid + "/cmdline").contains(QByteArray("\0rank\0", 6))) return pid;
    return {};
  }

  Result<Socket> knocking() const { return connect_to("127.0.0.1", port_, seconds(20)); }

  // The answer to the words, until the other side has had enough.
  QByteArray said_to(const QByteArray& words, size_t most = 4096) const {
    const auto socket = knocking();
    if (!socket) return "no connection";
    (void)send_all(*socket, words.data(), size_t(words.size()));
    QByteArray heard;
    char byte = 0;
    while (size_t(heard.size()) < most && receive_all(*socket, &byte, 1, seconds(20)))
      heard += byte;
    return heard;
  }

  // As a rank would call, as far as one can without the secret.
  static transport::Credentials guessed() {
    return {*Secret::from_hex(std::string(64, '0')), "attacked/0/0"};
  }
  Result<Handshake> calling(const Socket& socket, int rank) const {
    return Handshake::calling(guessed(), {.topic = "store", .caller = rank}, peer_address(socket));
  }

 private Q_SLOTS:
  void initTestCase() {
    if (geteuid() != 0) QSKIP("needs root, for namespaces of process ids");
    rlimit limit{};
    getrlimit(RLIMIT_NOFILE, &limit);
    limit.rlim_cur = std::min<rlim_t>(8192, limit.rlim_max);
    setrlimit(RLIMIT_NOFILE, &limit);
  }

  // Ends what a failed check has left running.
  void cleanup() {
    for (int host : {0, 1})
      for (const QString& pid : processes_of(run_dir(host))) kill(pid.toInt(), SIGKILL);
  }

  void what_strangers_do_ends_at_the_handshake() {
    QVERIFY(prepare("attacked", 20));
    const EngineResult first = start_first();
    QVERIFY2(first.exit_code == 0, first.err.constData());
    QTRY_VERIFY(!rank_0().isEmpty());
    const QString rank = rank_0();

    // Idle sockets, more than rank 0 keeps, until the run has ended.
    std::vector<Socket> idle;
    for (int i = 0; i < 3000; ++i) {
      auto socket = knocking();
      QVERIFY2(socket, socket ? "" : socket.error().message.c_str());
      idle.push_back(std::move(*socket));
    }
    // Rank 0 takes callers once it has loaded; from then on its memory is watched.
    QVERIFY(said_to(QByteArray(200, 'x')).isEmpty());
    const int64_t before = resident_kib(rank);

    // Reading the state: LibTorch's own store, and this one's words without a handshake.
    QVERIFY(said_to(QByteArray("\x00\x3c\x85\xf7\x00", 5) + QByteArray(200, '\0')).isEmpty());
    const auto frame =
        transport::to_frame(transport::StoreRequest{.key = "world.0/card/0", .value = {}});
    QVERIFY(
        said_to(QByteArray(reinterpret_cast<const char*>(frame.data()), qsizetype(frame.size())) +
                QByteArray(200, '\0'))
            .isEmpty());
    // Text for the screen.
    QVERIFY(said_to(QByteArray(kText).repeated(50)).isEmpty());

    // Joining as a rank, with another secret and with none.
    const auto joined = transport::knock("127.0.0.1", port_, guessed(),
                                         {.topic = "store", .caller = 1}, seconds(20), false);
    QVERIFY(!joined);
    QVERIFY2(joined.error().message.find("it does not know this run's secret") != std::string::npos,
             joined.error().message.c_str());
    {
      // Steering: rank 0's proof is taken, and orders are sent in place of the caller's.
      const auto socket = knocking();
      const auto handshake = calling(*socket, 1);
      const auto hello = handshake->hello();
      std::array<uint8_t, 64> answer{};
      QVERIFY(send_all(*socket, hello.data(), hello.size()));
      QVERIFY(receive_all(*socket, answer.data(), answer.size(), seconds(20)));
      const auto order = transport::to_frame(transport::StoreRequest{
          .call = transport::StoreCall::set, .key = "error", .value = {'s', 't', 'o', 'p'}});
      QByteArray orders(reinterpret_cast<const char*>(order.data()), qsizetype(order.size()));
      orders = orders.leftJustified(64, '\0');
      (void)send_all(*socket, orders.data(), size_t(orders.size()));
      char heard = 0;
      QVERIFY(!receive_all(*socket, &heard, 1, seconds(20)));
    }
    {
      // Making rank 0 train with itself: its words on one connection are repeated to it on another.
      const auto one = knocking(), other = knocking();
      const auto hello = calling(*one, 1)->hello();
      std::array<uint8_t, 64> answer{};
      for (const auto* socket : {&one, &other}) {
        QVERIFY(send_all(**socket, hello.data(), hello.size()));
        QVERIFY(receive_all(**socket, answer.data(), answer.size(), seconds(20)));
      }
      QVERIFY(send_all(*one, answer.data() + 32, 32));
      char heard = 0;
      QVERIFY(!receive_all(*one, &heard, 1, seconds(20)));
    }
    // Filling its memory.
    const QByteArray much(1 << 20, '\xff');
    for (int i = 0; i < 50; ++i) QVERIFY(said_to(much).isEmpty());
    const int64_t grown = resident_kib(rank) - before;
    // One of these attempts alone would have sent more.
    QVERIFY2(grown < 32 * 1024, qPrintable(QString("%1 KiB more").arg(grown)));

    start_second();
    for (int host : {0, 1}) {
      const QByteArray end = end_of(host);
      QVERIFY2(end.contains("\"done\""), end.constData());
    }
    for (int host : {0, 1}) {
      QDirIterator files(run_dir(host), QDir::Files, QDirIterator::Subdirectories);
      while (files.hasNext()) QVERIFY(!read_bytes(files.next()).contains("came from a stranger"));
    }
  }

  void nothing_listens_and_the_secret_is_found_nowhere() {
    QVERIFY(prepare("canary", 1000000));
    const EngineResult first = start_first();
    QVERIFY2(first.exit_code == 0, first.err.constData());
    QTRY_VERIFY(!rank_0().isEmpty());
    QVERIFY(!listening(rank_0()).isEmpty());  // the one who waits for the others
    start_second();
    // A rank says how it is joined to the others once it is.
    QVERIFY(QTest::qWaitFor(
        [&] { return read_bytes(run_dir(0) + "/rank-0.0.hlog").contains("transportctcp"); },
        90000));

    QStringList processes;
    for (int host : {0, 1}) processes << processes_of(run_dir(host));
    QVERIFY2(processes.size() >= 4, "two supervisors and two ranks");
    for (const QString& pid : processes) {
      QCOMPARE(listening(pid), QStringList());
      QVERIFY(!read_bytes("/proc/" + pid + "/cmdline").contains(secret_->hex().c_str()));
      QVERIFY(!read_bytes("/proc/" + pid + "/environ").contains(secret_->hex().c_str()));
    }
    const QByteArray raw(reinterpret_cast<const char*>(secret_->bytes().data()), Secret::kBytes);
    for (int host : {0, 1}) {
      struct stat status {};
      QCOMPARE(stat((run_dir(host) + "/secret").toUtf8().constData(), &status), 0);
      QCOMPARE(int(status.st_mode & 07777), 0600);
      QDirIterator files(run_dir(host), QDir::Files, QDirIterator::Subdirectories);
      while (files.hasNext()) {
        const QString path = files.next();
        if (path == run_dir(host) + "/secret") continue;
        const QByteArray content = read_bytes(path);
        QVERIFY2(!content.contains(secret_->hex().c_str()) && !content.contains(raw),
                 qPrintable(path));
      }
    }
    run_engine({"supervise", "--run-dir", run_dir(0), "--stop"});
    for (int host : {0, 1}) {
      QVERIFY(end_of(host).contains("\"state\""));
      QTRY_VERIFY(!QFile::exists(run_dir(host) + "/secret"));
    }
  }

  void without_a_secret_several_hosts_are_refused() {
    QVERIFY(prepare("alone", 1));
    const EngineResult started = run_engine({"supervise", "--run-dir", run_dir(0)});
    QCOMPARE(started.exit_code, 1);
    QVERIFY2(started.err.contains("a run on several hosts needs a secret"),
             started.err.constData());
    const EngineResult wrong =
        run_engine({"supervise", "--run-dir", run_dir(0), "--secret-stdin"}, "password\n");
    QCOMPARE(wrong.exit_code, 1);
    QVERIFY2(wrong.err.contains("a secret is 64 hexadecimal digits"), wrong.err.constData());
  }

  void a_public_address_is_refused_unless_the_target_says_so() {
    QVERIFY(prepare("public", 1));
    const QString launch = run_dir(0) + "/launch.json";
    const QString script = QString(
                               "ip addr add 8.8.4.4/32 dev lo && ip link set lo up && "
                               "exec '%1/heddle-engine' supervise --run-dir '%2' --secret-stdin")
                               .arg(HEDDLE_BINARY_DIR, run_dir(0));
    const auto start = [&] {
      QProcess shell;
      shell.start("unshare", {"--net", "sh", "-c", script});
      shell.write(handed_over());
      shell.closeWriteChannel();
      shell.waitForFinished(-1);
      return std::pair(shell.exitCode(), shell.readAllStandardError());
    };
    QByteArray text = read_bytes(launch).replace("127.0.0.1", "8.8.4.4");
    QVERIFY(write_bytes(launch, text));
    const auto [refused, why] = start();
    if (why.contains("ip: ") || refused == 127) QSKIP("needs iproute2");
    QCOMPARE(refused, 1);
    QVERIFY2(why.contains("rendezvous: 8.8.4.4 is a public address"), why.constData());
    QVERIFY(write_bytes(launch, text.replace("{", "{\"public_addresses\": true,")));
    const auto [allowed, error] = start();
    QVERIFY2(allowed == 0, error.constData());
    run_engine({"supervise", "--run-dir", run_dir(0), "--kill"});
    end_of(0);
  }
};

HEDDLE_TEST(AttackTest)
#include "attack_test.moc"
