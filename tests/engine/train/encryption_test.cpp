// A run whose two hosts are different networks, with one between them who hears everything: in
// clear and encrypted it trains to the same bits, and only in clear its weights are on the wire.
#include <sched.h>
#include <unistd.h>

#include <QDir>
#include <QFile>
#include <QJsonArray>
#include <QProcess>
#include <QTemporaryDir>
#include <QTest>
#include <QtEndian>

#include "tests/support/engine_process.h"
#include "tests/support/files.h"
#include "tests/support/relay.h"
#include "tests/support/test_class.h"

using namespace heddle;
using heddle::test::read_bytes;
using heddle::test::write_bytes;

namespace {

const QByteArray kRunSecret = QByteArray(64, '5') + '\n';

// So many bytes in the middle of the first rows of a matrix, as they are gathered.
QByteArray some_weights(const QString& safetensors) {
  const QByteArray file = read_bytes(safetensors);
  const auto length = qFromLittleEndian<quint64>(file.constData());
  const QJsonObject header = QJsonDocument::fromJson(file.mid(8, qsizetype(length))).object();
  const QJsonArray offsets =
      header["model.layers.0.mlp.up_proj.weight"].toObject()["data_offsets"].toArray();
  return file.mid(8 + qsizetype(length) + offsets[0].toInteger() + 64, 64);
}

}  // namespace

class EncryptionTest : public QObject {
  Q_OBJECT

 private:
  QTemporaryDir folder_;

  struct Run {
    QJsonArray losses;
    QByteArray weights;  // after its first step: the second one gathers them
    std::vector<std::string> heard;
  };

  QString run_dir(const QString& run, int host) const {
    return folder_.filePath(QString("%1-%2").arg(run).arg(host));
  }

  bool start(const QString& run, int host, int network, bool encrypt) {
    const QString dir = run_dir(run, host);
    const QJsonObject launch{
        {"run", run},          {"world_size", 2},         {"first_rank", host},
        {"local_ranks", 1},    {"rendezvous_port", 4711}, {"rendezvous_host", "127.0.0.1"},
        {"grace_seconds", 5.0}};
    const QByteArray recipe = small_recipe(R"(
[training]
steps = 3
local_batch = 1
[checkpoint]
every = 1
[hardware]
ranks = 2
)") + (encrypt ? "[transport]\nencrypt = true\n" : "");
    if (!QDir().mkpath(dir) || !write_bytes(dir + "/recipe.toml", recipe) ||
        !write_bytes(dir + "/launch.json", QJsonDocument(launch).toJson()))
      return false;
    QProcess engine;
    engine.setChildProcessModifier([network] {
      if (setns(network, CLONE_NEWNET) != 0) _exit(126);
    });
    engine.start(QString(HEDDLE_BINARY_DIR) + "/heddle-engine",
                 {"supervise", "--run-dir", dir, "--secret-stdin"});
    engine.write(kRunSecret);
    engine.closeWriteChannel();
    engine.waitForFinished(-1);
    return engine.exitCode() == 0;
  }

  Run train(const QString& run, bool encrypt) {
    Relay relay;
    if (!start(run, 0, relay.first(), encrypt) || !start(run, 1, relay.second(), encrypt))
      qWarning("%s does not start", qPrintable(run));
    for (int host : {0, 1}) {
      const QString end = run_dir(run, host) + "/end.json";
      if (!QTest::qWaitFor([&] { return QFile::exists(end); }, 60000)) qWarning("no end.json");
      if (!read_bytes(end).contains("\"done\"")) qWarning("%s", read_bytes(end).constData());
    }
    const QJsonObject results =
        QJsonDocument::fromJson(read_bytes(run_dir(run, 0) + "/results.json")).object();
    return {results["losses"].toArray(), weights_of(run), relay.heard()};
  }

  // Each host has saved its own shards.
  QByteArray weights_of(const QString& run) {
    const QString step = "/checkpoints/step-1", all = folder_.filePath(run + "-all");
    QDir().mkpath(all);
    for (int host : {0, 1}) {
      const QDir from(run_dir(run, host) + step);
      for (const QString& name : from.entryList(QDir::Files))
        QFile::copy(from.filePath(name), all + '/' + name);
    }
    return some_weights(exported(all));
  }

 private Q_SLOTS:
  void initTestCase() {
    if (geteuid() != 0) QSKIP("needs root, to make network namespaces");
    if (const Relay relay; !relay.refusal().empty()) QSKIP(relay.refusal().c_str());
  }

  void the_same_bits_and_nothing_on_the_wire() {
    const Run clear = train("clear", false), encrypted = train("encrypted", true);
    QCOMPARE(clear.losses.size(), 3);
    QCOMPARE(encrypted.losses, clear.losses);
    QCOMPARE(clear.weights.size(), 64);
    QCOMPARE(encrypted.weights, clear.weights);
    const auto on_the_wire = [](const Run& run, const std::string& what) {
      return std::any_of(run.heard.begin(), run.heard.end(), [&](const std::string& heard) {
        return heard.find(what) != std::string::npos;
      });
    };
    for (const std::string& what : {clear.weights.toStdString(), std::string("/card/0")}) {
      QVERIFY(on_the_wire(clear, what));
      QVERIFY(!on_the_wire(encrypted, what));
    }
  }
};

HEDDLE_TEST(EncryptionTest)
#include "encryption_test.moc"
