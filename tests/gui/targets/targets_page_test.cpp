// The Targets page against real hosts: this machine, and a real sshd on loopback whose key a person
// compares, saves, and later finds changed.
#include "gui/views/targets/targets_page.h"

#include <QAbstractItemModelTester>
#include <QSignalSpy>
#include <QTemporaryDir>
#include <QTest>
#include <QTimer>
#include <future>

#include "gui/theme/theme.h"
#include "gui/views/targets/host_dialog.h"
#include "gui/views/targets/key_dialog.h"
#include "gui/views/targets/questions_dialog.h"
#include "tests/gui/targets/dialogs.h"
#include "tests/support/sshd.h"
#include "tests/support/test_class.h"

using namespace heddle;
using namespace heddle::gui;
using namespace heddle::test;

Q_DECLARE_METATYPE(remote::ConnectError::Kind)

class TargetsPageTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void initTestCase() {
    qputenv("HOME", folder_.path().toUtf8());
    qunsetenv("SSH_AUTH_SOCK");
    Theme::install(Theme::Mode::dark);
  }

  void init() {
    session_ = std::make_unique<Session>(
        folder_.filePath(QStringLiteral("%1.sqlite").arg(QTest::currentTestFunction())));
  }

  void cleanup() {
    page_.reset();
    session_.reset();
  }

  void modelIsSound() {
    TargetListModel model;
    QAbstractItemModelTester tester(&model, QAbstractItemModelTester::FailureReportingMode::QtTest);
    TargetEntry entry;
    entry.target.name = "pair";
    remote::Host host;
    host.name = "hgx-07";
    host.address = "hgx-07.lab";
    host.user = "ada";
    host.port = 2222;
    host.jump = "gate.lab";
    entry.target.hosts = {host};
    TargetEntry offered = entry;
    offered.target.name = "spare";
    offered.offered = true;
    model.setEntries({entry, offered});
    QCOMPARE(model.targets(), 1);
    const QModelIndex first = model.index(0);
    QCOMPARE(first.data(TargetListModel::AddressRole).toString(),
             QStringLiteral("ada@hgx-07.lab:2222 through gate.lab"));
    QCOMPARE(first.data(TargetListModel::StateRole).toString(), QStringLiteral("not probed"));
    entry.report.emplace();
    entry.report->cores = 96;
    entry.report->memory_bytes = int64_t(2) << 40;
    entry.report->checks = {{"kernel", probe::Status::pass, "6.1", ""},
                            {"/dev/shm", probe::Status::warn, "64.0 MiB", "mount a larger one"}};
    model.update(entry);
    QCOMPARE(first.data(TargetListModel::StateRole).toString(), QStringLiteral("1 warn"));
    QCOMPARE(first.data(TargetListModel::EquipmentRole).toString(),
             QStringLiteral("96 cores, 2.00 TiB"));
    // A probe's findings say nothing of a host that is out of reach.
    entry.lost = QStringLiteral("debug: no route to host");
    model.update(entry);
    QCOMPARE(first.data(TargetListModel::StateRole).toString(), QStringLiteral("connection lost"));
    QCOMPARE(first.data(TargetListModel::ToneRole).toInt(), int(Tone::bad));
  }

  void thisMachineIsProbed() {
    open();
    QTRY_VERIFY(page_->isReady());
    QCOMPARE(list()->currentIndex().data().toString(), QStringLiteral("this-machine"));
    QTRY_VERIFY(says(QStringLiteral("glibc")));
    const QString counts = page_->findChild<QLabel*>(QStringLiteral("counts"))->text();
    QVERIFY2(
        counts.contains(QStringLiteral("pass")) && counts.contains(QStringLiteral(">probed now<")),
        qPrintable(counts));
    QVERIFY(!page_->findChild<QPushButton*>(QStringLiteral("removeTarget"))->isVisible());
  }
  void onlyTheSameFingerprintMayBeSaved() {
    remote::ConnectError error;
    error.kind = remote::ConnectError::Kind::host_key_unknown;
    error.key = {"hgx-09.lab:22", "SHA256:q8Vn2hXo7LkT0sYdWmZ4rC1uBf9EJpGa6iKxN3RtHyQ"};
    UnknownKeyDialog dialog(error, nullptr);
    dialog.show();
    auto* save = dialog.findChild<QPushButton*>(QStringLiteral("saveKey"));
    QVERIFY(save->isEnabled());
    QVERIFY(dialog.findChild<QLabel*>(QStringLiteral("fingerprint"))
                ->text()
                .startsWith(QStringLiteral("SHA256:q8Vn 2hXo")));
    type(&dialog, "pasted", QStringLiteral("SHA256:somethingelse"));
    QVERIFY(!save->isEnabled());
    type(&dialog, "pasted",
         QStringLiteral("256 SHA256:q8Vn2hXo7LkT0sYdWmZ4rC1uBf9EJpGa6iKxN3RtHyQ root@hgx-09"));
    QVERIFY(save->isEnabled());
  }

  void enterSavesWhatIsTheSame_data() {
    QTest::addColumn<QString>("pasted");
    QTest::addColumn<int>("result");
    QTest::newRow("the same") << "SHA256:q8Vn2hXo7LkT0sYdWmZ4rC1uBf9EJpGa6iKxN3RtHyQ"
                              << int(QDialog::Accepted);
    QTest::newRow("another") << "SHA256:somethingelse" << int(QDialog::Rejected);
    QTest::newRow("nothing compared") << "" << int(QDialog::Rejected);
  }
  void enterSavesWhatIsTheSame() {
    QFETCH(QString, pasted);
    QFETCH(int, result);
    remote::ConnectError error;
    error.kind = remote::ConnectError::Kind::host_key_unknown;
    error.key = {"hgx-09.lab:22", "SHA256:q8Vn2hXo7LkT0sYdWmZ4rC1uBf9EJpGa6iKxN3RtHyQ"};
    UnknownKeyDialog dialog(error, nullptr);
    dialog.show();
    dialog.activateWindow();
    QVERIFY(QTest::qWaitForWindowActive(&dialog));
    QSignalSpy finished(&dialog, &QDialog::finished);
    auto* field = dialog.findChild<QLineEdit*>(QStringLiteral("pasted"));
    QVERIFY(field->hasFocus());
    QTest::keyClicks(field, pasted);
    QTest::keyClick(field, Qt::Key_Return);
    QCOMPARE(finished.size(), 1);
    QCOMPARE(dialog.result(), result);
  }

  void enterPressesTheFocusedButton() {
    remote::ConnectError error;
    error.key = {"hgx-09.lab:22", "SHA256:q8Vn2hXo7LkT0sYdWmZ4rC1uBf9EJpGa6iKxN3RtHyQ"};
    UnknownKeyDialog dialog(error, nullptr);
    dialog.show();
    dialog.activateWindow();
    QVERIFY(QTest::qWaitForWindowActive(&dialog));
    auto* save = dialog.findChild<QPushButton*>(QStringLiteral("saveKey"));
    save->setFocus();
    QTest::keyClick(save, Qt::Key_Return);
    QCOMPARE(dialog.result(), int(QDialog::Accepted));
  }

  void aKeyThatIsWrongCannotBeAccepted_data() {
    using Kind = remote::ConnectError::Kind;
    QTest::addColumn<Kind>("kind");
    QTest::addColumn<QString>("advice");
    QTest::newRow("changed") << Kind::host_key_changed << "remove the target";
    QTest::newRow("revoked") << Kind::host_key_refused << "change nothing before";
  }
  void aKeyThatIsWrongCannotBeAccepted() {
    QFETCH(remote::ConnectError::Kind, kind);
    QFETCH(QString, advice);
    remote::ConnectError error;
    error.kind = kind;
    error.key = {"hgx-09.lab:22", "SHA256:q8Vn2hXo7LkT0sYdWmZ4rC1uBf9EJpGa6iKxN3RtHyQ"};
    RefusedKeyDialog dialog(error, nullptr);
    QStringList buttons;
    for (const auto* button : dialog.findChildren<QPushButton*>()) buttons << button->text();
    buttons.sort();
    QCOMPARE(buttons, QStringList({QStringLiteral("Close"), QStringLiteral("copy")}));
    QString words;
    for (const auto* label : dialog.findChildren<QLabel*>()) words += label->text() + QChar(' ');
    QVERIFY2(words.contains(advice), qPrintable(words));
    QCOMPARE(words.contains(QStringLiteral("add it again")),
             kind == remote::ConnectError::Kind::host_key_changed);
  }

  void anotherUserOrPortIsTheSameMachine_data() {
    QTest::addColumn<QString>("typed");
    QTest::addColumn<QString>("alias");
    QTest::newRow("as it was") << "ada@hgx-07.lab:2222"
                               << "cluster";
    QTest::newRow("another user") << "bob@hgx-07.lab:2222"
                                  << "cluster";
    QTest::newRow("another port") << "ada@hgx-07.lab"
                                  << "cluster";
    QTest::newRow("both") << "hgx-07.lab:22222"
                          << "cluster";
    QTest::newRow("another machine") << "ada@hgx-08.lab:2222"
                                     << "";
  }
  void anotherUserOrPortIsTheSameMachine() {
    QFETCH(QString, typed);
    QFETCH(QString, alias);
    remote::Target target;
    target.name = "lab";
    target.hosts = {*remote::parse_host("ada@hgx-07.lab:2222")};
    target.hosts[0].host_key_alias = "cluster";
    target.hosts[0].known_hosts = {"/etc/lab/keys"};
    HostDialog dialog({}, nullptr);
    dialog.edit(target);
    dialog.fill(formOf(target));
    dialog.show();
    type(&dialog, "hosts", typed);
    const remote::Host& host = dialog.target().hosts.front();
    QCOMPARE(QString::fromStdString(host.host_key_alias), alias);
    QCOMPARE(host.known_hosts.empty(), alias.isEmpty());
  }

  void aHostIsAddedItsKeySavedAndLaterFoundChanged() {
    if (const std::string why = test::Sshd::missing(); !why.empty()) QSKIP(why.c_str());
    auto sshd = test::Sshd::start();
    QVERIFY2(sshd, sshd ? "" : sshd.error().message.c_str());
    qputenv("HOME", QByteArray::fromStdString((*sshd)->user_home()));
    const remote::Host host = (*sshd)->target().hosts.front();
    const QString address =
        QStringLiteral("%1@%2:%3")
            .arg(QString::fromStdString(host.user), QString::fromStdString(host.address))
            .arg(host.port);
    const QString key;
    open();
    QTRY_VERIFY(page_->isReady());
    const auto add = [&] {
      whenOpen<HostDialog>(page_.get(), [=](HostDialog* dialog) {
        type(dialog, "hosts", address);
        type(dialog, "name", QStringLiteral("node"));
        type(dialog, "key", key);
        press(dialog, "connect");
      });
      page_->findChild<QAction*>(QStringLiteral("addHost"))->trigger();
    };

    // Cancelled: nothing is kept, and the typed text is there again.
    QString typed;
    whenOpen<UnknownKeyDialog>(page_.get(), [&](UnknownKeyDialog* dialog) {
      whenOpen<HostDialog>(page_.get(), [&](HostDialog* again) {
        typed =
            again->form().hosts + QChar(' ') + again->form().name + QChar(' ') + again->form().key;
        again->reject();
      });
      press(dialog, "cancel");
    });
    add();
    QTRY_COMPARE_WITH_TIMEOUT(typed, address + " node " + key, 30000);
    QCOMPARE(list()->model()->rowCount(), 1);

    // Saved: probed and kept.
    QString shown;
    whenOpen<UnknownKeyDialog>(page_.get(), [&](UnknownKeyDialog* dialog) {
      shown = dialog->findChild<QLabel*>(QStringLiteral("fingerprint"))->accessibleName();
      press(dialog, "saveKey");
    });
    add();
    QTRY_COMPARE_WITH_TIMEOUT(list()->model()->rowCount(), 2, 60000);
    QCOMPARE(shown, QString::fromStdString((*sshd)->fingerprint()));
    QTRY_COMPARE(list()->currentIndex().row(), 1);  // what was added is shown
    QTRY_VERIFY_WITH_TIMEOUT(says(QStringLiteral("glibc")), 60000);

    // Edited: another name and folder, the same host; its key stays, and nobody is asked.
    const auto edit = [&](const QString& name, const QString& root) {
      whenOpen<HostDialog>(page_.get(), [=](HostDialog* dialog) {
        QCOMPARE(dialog->form().hosts, address);
        QCOMPARE(dialog->form().key, key);
        type(dialog, "name", name);
        type(dialog, "root", root);
        press(dialog, "connect");
      });
      press(page_.get(), "editTarget");
    };
    edit(QStringLiteral("renamed"), QStringLiteral("~/elsewhere"));
    QTRY_COMPARE_WITH_TIMEOUT(list()->currentIndex().data().toString(), QStringLiteral("renamed"),
                              60000);
    QCOMPARE(list()->model()->rowCount(), 2);
    {
      auto reader = storage::Reader::open(session_->storePath().toStdString());
      QVERIFY(reader);
      QVERIFY(!workbench::find_target(*reader, "node"));
      const auto renamed = workbench::find_target(*reader, "renamed");
      QVERIFY(renamed);
      QCOMPARE(renamed->target.root, std::string("~/elsewhere"));
      QCOMPARE(renamed->target.accepted_keys.size(), size_t(1));
    }
    edit(QStringLiteral("node"), QStringLiteral("~/.heddle"));
    QTRY_COMPARE_WITH_TIMEOUT(list()->currentIndex().data().toString(), QStringLiteral("node"),
                              60000);

    // Probed: the focus is in the list then, not on the button that removes.
    page_->activateWindow();
    QVERIFY(QTest::qWaitForWindowActive(page_.get()));
    auto* probe = page_->findChild<QPushButton*>(QStringLiteral("probe"));
    QTRY_VERIFY_WITH_TIMEOUT(probe->isEnabled(), 60000);
    probe->setFocus();
    QTest::keyClick(probe, Qt::Key_Space);
    QVERIFY(!probe->isEnabled());
    QTRY_VERIFY_WITH_TIMEOUT(probe->isEnabled(), 60000);
    QCOMPARE(QApplication::focusWidget(), static_cast<QWidget*>(list()));

    // Down: what the last probe found stays, on the page and in the store.
    (*sshd)->stop();
    press(page_.get(), "probe");
    QTRY_COMPARE_WITH_TIMEOUT(list()->currentIndex().data(TargetListModel::StateRole).toString(),
                              QStringLiteral("not reached"), 60000);
    QTRY_VERIFY(says(QStringLiteral("glibc")));
    auto reader = storage::Reader::open(session_->storePath().toStdString());
    QVERIFY(reader);
    const auto kept = workbench::find_target(*reader, "node");
    QVERIFY(kept && kept->probe);

    // Changed: explained, with no way to accept.
    QVERIFY((*sshd)->change_host_key());
    QVERIFY((*sshd)->start_again());
    bool explained = false;
    whenOpen<RefusedKeyDialog>(page_.get(), [&](RefusedKeyDialog* dialog) {
      explained = true;
      press(dialog, "close");
    });
    press(page_.get(), "probe");
    QTRY_VERIFY_WITH_TIMEOUT(explained, 60000);
    QTRY_VERIFY(says(QStringLiteral("not reached")) ||
                list()->currentIndex().data(TargetListModel::StateRole).toString() ==
                    QStringLiteral("not reached"));

    // Removed: gone from the list.
    whenOpen<Dialog>(page_.get(), [](Dialog* dialog) {
      for (auto* button : dialog->findChildren<QPushButton*>())
        if (button->text() == QStringLiteral("Remove node"))
          QTest::mouseClick(button, Qt::LeftButton);
    });
    press(page_.get(), "removeTarget");
    QTRY_COMPARE(list()->model()->rowCount(), 1);
  }

  // One-time passwords: as many dialogs as the host asks times, and none for what comes after.
  void aHostsQuestionsAreAnswered() {
    if (const std::string why = test::Sshd::missing(); !why.empty()) QSKIP(why.c_str());
    test::SshdOptions options;
    options.questions = true;
    options.config = "AuthenticationMethods keyboard-interactive\n";
    auto sshd = test::Sshd::start(options);
    QVERIFY2(sshd, sshd ? "" : sshd.error().message.c_str());
    qputenv("HOME", QByteArray::fromStdString((*sshd)->user_home()));
    const remote::Host host = (*sshd)->target().hosts.front();
    const QString address = QStringLiteral("root@127.0.0.1:%1").arg(host.port);
    open();
    const Questioner questioner(page_.get());
    QTRY_VERIFY(page_->isReady());
    int asked = 0;
    QList<QLineEdit::EchoMode> shown;
    const auto answer = [&](QuestionsDialog* dialog) {
      ++asked;
      auto* field = dialog->findChild<QLineEdit*>(QStringLiteral("answer0"));
      shown << field->echoMode();
      for (const QLabel* label : dialog->findChildren<QLabel*>())
        if (label->buddy() == field)
          type(dialog, "answer0",
               QString::fromStdString((*test::answers_of(
                   {.host = "", .prompts = {{label->text().toStdString()}}}))[0]));
      press(dialog, "logIn");
    };
    whenOpen<UnknownKeyDialog>(page_.get(),
                               [](UnknownKeyDialog* dialog) { press(dialog, "saveKey"); });
    whenOpen<QuestionsDialog>(page_.get(), [&](QuestionsDialog* dialog) {
      QVERIFY(dialog->windowTitle().contains(address.section(QChar(':'), 0, 0)));
      whenOpen<QuestionsDialog>(page_.get(), answer);
      answer(dialog);
    });
    whenOpen<HostDialog>(page_.get(), [&](HostDialog* dialog) {
      type(dialog, "hosts", address);
      type(dialog, "name", QStringLiteral("asks"));
      press(dialog, "connect");
    });
    page_->findChild<QAction*>(QStringLiteral("addHost"))->trigger();
    QTRY_VERIFY_WITH_TIMEOUT(says(QStringLiteral("glibc")) && list()->model()->rowCount() == 2,
                             60000);
    QCOMPARE(asked, 2);
    QCOMPARE(shown, (QList{QLineEdit::Normal, QLineEdit::Password}));
  }

  void questionsOfAWindowThatIsGoneHaveNoAnswers() {
    QWidget window;
    auto questioner = std::make_unique<Questioner>(&window);
    const remote::Questions background{.host = "gpu1", .prompts = {{"Code: "}}, .background = true};
    QVERIFY(!remote::ask_person(background));
    // Its dialog was never shown: the window's thread is here.
    auto answers = std::async(std::launch::async, [] {
      return remote::ask_person({.host = "gpu1", .prompts = {{"Code: "}}});
    });
    QTest::qSleep(100);
    questioner.reset();
    const auto none = answers.get();
    QVERIFY(!none);
    QVERIFY2(none.error().message == "the window was closed" ||
                 none.error().message == "nobody can be asked here",
             none.error().message.c_str());
  }

  void hostsOfTheSshConfigAreOffered() {
    QVERIFY(QDir(folder_.path()).mkpath(QStringLiteral(".ssh")));
    QFile config(folder_.filePath(QStringLiteral(".ssh/config")));
    QVERIFY(config.open(QIODevice::WriteOnly));
    config.write("Host lab\n  HostName hgx-07.lab\n  User ada\n");
    // One that cannot be reached is not passed over in silence.
    config.write("Host tunnel1 tunnel2 tunnel3 tunnel4\n  ProxyJump one,two\n");
    config.close();
    qputenv("HOME", folder_.path().toUtf8());
    open();
    QTRY_VERIFY(page_->isReady());
    QTRY_COMPARE(list()->model()->rowCount(), 2);
    const auto* warnings = page_->findChild<QLabel*>(QStringLiteral("warnings"));
    QVERIFY(warnings->isVisible());
    for (const char* words : {"tunnel1: ", "tunnel3: ", ".ssh/config:5: ProxyJump", "and 1 more"})
      QVERIFY2(warnings->text().contains(QLatin1String(words)), qPrintable(warnings->text()));
    QVERIFY(warnings->toolTip().contains(QStringLiteral("tunnel4: ")));
    const QModelIndex offered = list()->model()->index(1, 0);
    QCOMPARE(offered.data().toString(), QStringLiteral("lab"));
    QVERIFY(offered.data(TargetListModel::OfferedRole).toBool());
    list()->setCurrentIndex(offered);
    QString hosts;
    whenOpen<HostDialog>(page_.get(), [&](HostDialog* dialog) {
      hosts = dialog->findChild<QLineEdit*>(QStringLiteral("hosts"))->text();
      dialog->reject();
    });
    press(page_.get(), "probe");
    QCOMPARE(hosts, QStringLiteral("lab"));
  }

 private:
  void open() {
    page_ = std::make_unique<TargetsPage>(*session_);
    page_->resize(1400, 900);
    page_->show();
    page_->activated();
  }

  HostList* list() const { return page_->findChild<HostList*>(); }

  bool says(const QString& text) const {
    for (const QLabel* label : page_->findChildren<QLabel*>()) {
      const auto* elided = qobject_cast<const ElidedLabel*>(label);
      if (label->isVisible() && (elided ? elided->fullText() : label->text()).contains(text))
        return true;
    }
    return false;
  }

  QTemporaryDir folder_;
  std::unique_ptr<Session> session_;
  std::unique_ptr<TargetsPage> page_;
};

HEDDLE_WIDGET_TEST(TargetsPageTest)
#include "targets_page_test.moc"
