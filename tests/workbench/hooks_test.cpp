// Hooks as a person writes them: a program gets the event, a webhook the same over HTTP, a faulty
// file is a line of the run's log.
#include "workbench/hooks.h"

#include <QStandardPaths>
#include <QTcpServer>
#include <QTcpSocket>
#include <QTemporaryDir>
#include <QTest>
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "storage/queries.h"
#include "tests/support/files.h"
#include "tests/support/results.h"
#include "tests/support/test_class.h"

using namespace heddle;
using namespace heddle::workbench;
using heddle::test::read_text;

class HooksTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void init() {
    folder_ = std::make_unique<QTemporaryDir>();
    qputenv("XDG_CONFIG_HOME", folder_->path().toUtf8());
    std::filesystem::create_directories(std::filesystem::path(hooks_path()).parent_path());
    writer_ = must(storage::Writer::open(path("store.sqlite")));
    storage::NewRun run;
    run.name = "llama";
    run.recipe_name = "debug";
    run.target = "lab";
    run_ = must(writer_->create_run(std::move(run)).get()).id;
  }
  void cleanup() { writer_.reset(); }

  void faulty_hooks_are_explained_data() {
    QTest::addColumn<QString>("text");
    QTest::addColumn<QString>("fault");
    const auto row = [](const char* text, const char* fault) {
      QTest::newRow(text) << text << fault;
    };
    row("{'on': ['done']}", "valid: a list of hooks");
    row("[7]", "hook 1: valid: an object with on, and one of command, webhook, mail");
    row("[{'on': ['done'], 'mail': 'a@b'}, {'mail': 'a@b'}]",
        "hook 2: on is missing; valid: done, ");
    row("[{'on': ['finished'], 'mail': 'a@b'}]",
        "hook 1: on: there is no event \"finished\"; valid: done, ");
    row("[{'on': ['done']}]", "hook 1: valid: one of command, webhook, mail");
    row("[{'on': ['done'], 'mail': 'a@b', 'webhook': 'https://a'}]",
        "hook 1: valid: one of command, webhook, mail");
    row("[{'on': ['done'], 'command': 'run me'}]", "hook 1: command: valid: a list of texts");
    row("[{'on': ['done'], 'webhook': 'file:///etc/passwd'}]",
        "hook 1: webhook: valid: an address that begins with https://");
    row("[{'on': ['done'], 'mail': 'a@b\\nBcc: c@d'}]", "hook 1: mail: valid: one address");
    row("[{'on': ['done'], 'programm': []}]", "hook 1: there is no key \"programm\"; valid: on, ");
  }
  void faulty_hooks_are_explained() {
    QFETCH(QString, text);
    QFETCH(QString, fault);
    write(text.toStdString());
    const auto hooks = read_hooks(hooks_path());
    QVERIFY(!hooks);
    const QString words = QString::fromStdString(hooks.error().message);
    QVERIFY2(words.startsWith(QString::fromStdString(hooks_path() + ": ")), qPrintable(words));
    QVERIFY2(words.contains(fault), qPrintable(words));
  }

  void a_program_gets_the_event() {
    write("[{'on': ['failed'], 'command': ['/bin/sh', '-c', 'cat > $0', '" + path("event") +
          "']}, {'on': ['done'], 'command': ['/bin/sh', '-c', 'touch $0', '" + path("other") +
          "']}]");
    end(storage::RunState::failed, "rank 1 was killed\nby somebody");
    const auto event = nlohmann::json::parse(read_text(path("event")));
    QCOMPARE(event["event"].get<std::string>(), std::string("failed"));
    QCOMPARE(event["text"].get<std::string>(),
             std::string("llama failed: rank 1 was killed\\nby somebody"));
    QCOMPARE(event["run"]["name"].get<std::string>(), std::string("llama"));
    QCOMPARE(event["run"]["target"].get<std::string>(), std::string("lab"));
    QCOMPARE(event["store"].get<std::string>(), path("store.sqlite"));
    QVERIFY(!std::filesystem::exists(path("other")));
    QCOMPARE(log(), std::string());
  }

  void alerts_and_their_ends_are_events() {
    write("[{'on': ['alert', 'over'], 'command': ['/bin/sh', '-c', 'cat >> $0', '" +
          path("events") + "']}]");
    {
      Hooks hooks(path("store.sqlite"), *writer_, run_);
      hooks.alert({AlertKind::spike, false, "step 40: loss 9.4"});
      hooks.alert({AlertKind::spike, true, "step 61: loss 4.2"});
    }
    const QStringList lines = QString::fromStdString(read_text(path("events"))).split('\n');
    QCOMPARE(lines.size(), 3);
    QVERIFY2(lines[0].contains("\"text\":\"llama: loss spike, step 40: loss 9.4\""),
             qPrintable(lines[0]));
    QVERIFY(lines[0].contains("\"event\":\"alert\"") && lines[1].contains("\"event\":\"over\""));
  }

  void a_hook_that_fails_is_said_in_the_run_s_log() {
    write(
        "[{'on': ['done'], 'command': ['/bin/sh', '-c', 'echo no such channel >&2; exit 3']}, "
        "{'on': ['done'], 'command': ['/nowhere/notify']}]");
    end(storage::RunState::done, "");
    const std::string text = log();
    QVERIFY2(text.starts_with("hook: /bin/sh ended with exit code 3: no such channel"),
             text.c_str());
    QVERIFY2(
        text.find("; ") != std::string::npos && text.find("/nowhere/notify") != std::string::npos,
        text.c_str());
  }

  void a_faulty_file_is_said_in_the_run_s_log() {
    write("[");
    end(storage::RunState::done, "");
    QVERIFY2(log().starts_with("hook: " + hooks_path() + ": "), log().c_str());
  }

  void a_webhook_is_posted_to() {
    if (QStandardPaths::findExecutable("curl").isEmpty()) QSKIP("there is no curl here");
    QTcpServer server;
    QVERIFY(server.listen(QHostAddress::LocalHost));
    QByteArray request;
    connect(&server, &QTcpServer::newConnection, this, [&] {
      QTcpSocket* socket = server.nextPendingConnection();
      connect(socket, &QTcpSocket::readyRead, socket, [&request, socket] {
        request += socket->readAll();
        if (!request.endsWith("}\n")) return;
        socket->write("HTTP/1.1 200 OK\r\nContent-Length: 0\r\nConnection: close\r\n\r\n");
        socket->flush();  // this thread is soon waiting for curl
        socket->disconnectFromHost();
      });
    });
    write(QStringLiteral("[{'on': ['done'], 'webhook': 'http://127.0.0.1:%1/hook'}]")
              .arg(server.serverPort())
              .toStdString());
    must(writer_->set_state(run_, storage::RunState::done, "", 0).get());
    Hooks hooks(path("store.sqlite"), *writer_, run_);
    hooks.end();
    QTRY_VERIFY_WITH_TIMEOUT(request.endsWith("}\n"), 15000);
    QVERIFY2(request.startsWith("POST /hook HTTP/1.1\r\n"), request.constData());
    QVERIFY2(request.contains("\"text\":\"llama done\""), request.constData());
  }

 private:
  std::string path(const std::string& name) const {
    return folder_->filePath(QString::fromStdString(name)).toStdString();
  }
  /// With ' in place of ".
  static void write(std::string text) {
    std::ranges::replace(text, '\'', '"');
    std::ofstream(hooks_path()) << text;
  }

  void end(storage::RunState state, const std::string& cause) {
    must(writer_->set_state(run_, state, cause, 0).get());
    Hooks(path("store.sqlite"), *writer_, run_).end();
  }

  std::string log() const {
    auto reader = must(storage::Reader::open(path("store.sqlite")));
    std::string text;
    for (const storage::LogLine& line : must(reader.last_lines(run_, 10))) text += line.text;
    return text;
  }

  std::unique_ptr<QTemporaryDir> folder_;
  std::unique_ptr<storage::Writer> writer_;
  storage::RunId run_ = 0;
};

HEDDLE_TEST(HooksTest)
#include "hooks_test.moc"
