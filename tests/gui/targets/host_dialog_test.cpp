// The dialog that asks for a host or a cluster.
#include "gui/views/targets/host_dialog.h"

#include <QCheckBox>
#include <QLabel>
#include <QSpinBox>
#include <QStyleOptionFrame>
#include <QTemporaryDir>

#include "gui/models/target_entry.h"
#include "gui/theme/theme.h"
#include "tests/gui/targets/dialogs.h"
#include "tests/support/test_class.h"

using namespace heddle;
using namespace heddle::gui;
using namespace heddle::test;

class HostDialogTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void initTestCase() { Theme::install(Theme::Mode::dark); }

  void badFieldsAreSaidAtOnce() {
    HostDialog dialog({QStringLiteral("lab")}, nullptr);
    dialog.show();
    auto* connect = dialog.findChild<QPushButton*>(QStringLiteral("connect"));
    QVERIFY(!connect->isEnabled());
    type(&dialog, "hosts", QStringLiteral("ada@hgx-07.lab:99999"));
    QVERIFY(!connect->isEnabled());
    type(&dialog, "hosts", QStringLiteral("ada@hgx-07.lab:2222"));
    QCOMPARE(dialog.findChild<QLineEdit*>(QStringLiteral("name"))->text(),
             QStringLiteral("hgx-07.lab"));
    QVERIFY(connect->isEnabled());
    QCOMPARE(dialog.target().hosts.front().port, uint16_t(2222));
    type(&dialog, "name", QStringLiteral("lab"));
    QVERIFY(!connect->isEnabled());
    type(&dialog, "name", QStringLiteral("lab2"));
    QVERIFY(connect->isEnabled());
  }

  void aClusterIsAskedForByAMark() {
    HostDialog dialog({}, nullptr);
    dialog.show();
    auto* connect = dialog.findChild<QPushButton*>(QStringLiteral("connect"));
    auto* cluster = dialog.findChild<QCheckBox*>(QStringLiteral("slurm"));
    auto* partition = dialog.findChild<QLineEdit*>(QStringLiteral("partition"));
    type(&dialog, "name", QStringLiteral("alps"));
    QVERIFY(!connect->isEnabled());
    QVERIFY(!partition->isVisible());
    cluster->click();
    QVERIFY(partition->isVisible());
    // Without a host, this machine is its login node.
    QVERIFY(connect->isEnabled());
    QVERIFY(dialog.target().hosts.front().is_this_machine());
    type(&dialog, "hosts", QStringLiteral("ada@login.alps"));
    type(&dialog, "partition", QStringLiteral("gpu"));
    type(&dialog, "time_limit", QStringLiteral("2-12"));
    type(&dialog, "options", QStringLiteral("--mem=0 --wrap=id"));
    auto* fault = dialog.findChild<QLabel*>(QStringLiteral("fault"));
    QVERIFY(!connect->isEnabled());
    QVERIFY2(fault->text().contains(QStringLiteral("Heddle sets --wrap itself")),
             qPrintable(fault->text()));
    type(&dialog, "options", QStringLiteral("--mem=0 --exclusive"));
    dialog.findChild<QSpinBox*>(QStringLiteral("nodes"))->setValue(2);
    dialog.findChild<QSpinBox*>(QStringLiteral("gpus_per_node"))->setValue(4);
    QVERIFY(connect->isEnabled());
    const remote::JobRequest asked{.system = "slurm",
                                   .partition = "gpu",
                                   .account = "",
                                   .qos = "",
                                   .time_limit = "2-12",
                                   .nodes = 2,
                                   .gpus_per_node = 4,
                                   .cpus_per_node = 0,
                                   .options = {"--mem=0", "--exclusive"}};
    QCOMPARE(dialog.target().job, std::optional(asked));
    TargetEntry entry;
    entry.target = dialog.target();
    QCOMPARE(addressOf(entry), QStringLiteral("Slurm behind ada@login.alps"));
    // Edited, it is the same; without the mark it is a host.
    HostDialog edited({}, nullptr);
    edited.edit(dialog.target());
    edited.fill(formOf(dialog.target()));
    QCOMPARE(edited.target(), dialog.target());
    edited.findChild<QCheckBox*>(QStringLiteral("slurm"))->click();
    QVERIFY(!edited.target().job);
  }

  void sparesAreKept() {
    HostDialog dialog({}, nullptr);
    dialog.show();
    type(&dialog, "hosts", QStringLiteral("ada@one.lab, ada@two.lab"));
    type(&dialog, "spares", QStringLiteral("ada@one.lab"));
    auto* fault = dialog.findChild<QLabel*>(QStringLiteral("fault"));
    QVERIFY2(fault->text().contains(QStringLiteral("one.lab is one of its hosts")),
             qPrintable(fault->text()));
    type(&dialog, "spares", QStringLiteral("ada@three.lab:2222"));
    QCOMPARE(dialog.target().spares.size(), size_t(1));
    QCOMPARE(dialog.target().spares[0].port, 2222);
    const auto kept = remote::target_from_json(remote::to_json(dialog.target()));
    QVERIFY(kept);
    QCOMPARE(*kept, dialog.target());
    HostDialog edited({}, nullptr);
    edited.edit(dialog.target());
    edited.fill(formOf(dialog.target()));
    QCOMPARE(edited.target(), dialog.target());
  }

  void whatClustersAskForIsKept() {
    QTemporaryDir folder;
    const QString prelude = folder.filePath(QStringLiteral("modules.sh"));
    HostDialog dialog({}, nullptr);
    dialog.show();
    auto* connect = dialog.findChild<QPushButton*>(QStringLiteral("connect"));
    auto* fault = dialog.findChild<QLabel*>(QStringLiteral("fault"));
    type(&dialog, "hosts", QStringLiteral("ada@hgx-07.lab"));
    type(&dialog, "prelude", prelude);
    QVERIFY(!connect->isEnabled());
    QVERIFY2(fault->text().contains(QStringLiteral("the prelude of hgx-07.lab: ")),
             qPrintable(fault->text()));
    QFile file(prelude);
    QVERIFY(file.open(QIODevice::WriteOnly) && file.write("module load cuda\n") > 0);
    file.close();
    type(&dialog, "prelude", prelude);
    type(&dialog, "dataRoot", QStringLiteral("scratch"));
    QVERIFY(fault->text().contains(QStringLiteral("data root \"scratch\" is no folder")));
    type(&dialog, "dataRoot", QStringLiteral("/scratch/ada"));
    type(&dialog, "container", QStringLiteral("pyxis:llama"));
    QVERIFY(fault->text().contains(QStringLiteral("pyxis is a part of Slurm")));
    type(&dialog, "container", QStringLiteral("apptainer:/scratch/llama.sif"));
    QVERIFY(connect->isEnabled());
    const remote::Target target = dialog.target();
    QCOMPARE(target.prelude, prelude.toStdString());
    QCOMPARE(target.data_root, std::string("/scratch/ada"));
    QCOMPARE(target.container, std::string("apptainer:/scratch/llama.sif"));
    // Kept as the shell keeps it, and shown again when the target is edited.
    const auto kept = remote::target_from_json(remote::to_json(target));
    QVERIFY(kept && *kept == target);
    HostDialog again({}, nullptr);
    again.edit(target);
    again.fill(formOf(target));
    QCOMPARE(again.target(), target);
    // This computer under another name.
    HostDialog here({}, nullptr);
    here.show();
    type(&here, "hosts", QStringLiteral("this-machine"));
    type(&here, "name", QStringLiteral("here"));
    type(&here, "prelude", prelude);
    QVERIFY(here.target().hosts.front().is_this_machine());
    HostDialog edited({}, nullptr);
    edited.edit(here.target());
    edited.fill(formOf(here.target()));
    QCOMPARE(edited.target(), here.target());
  }

  void noPlaceholderIsCut_data() {
    QTest::addColumn<bool>("cluster");
    QTest::newRow("host") << false;
    QTest::newRow("cluster") << true;
  }
  void noPlaceholderIsCut() {
    QFETCH(bool, cluster);
    HostDialog dialog({}, nullptr);
    dialog.show();
    dialog.findChild<QCheckBox*>(QStringLiteral("slurm"))->setChecked(cluster);
    QCoreApplication::sendPostedEvents();
    for (const QLineEdit* field : dialog.findChildren<QLineEdit*>()) {
      if (!field->isVisible()) continue;
      QStyleOptionFrame option;
      option.initFrom(field);
      const int room =
          field->style()->subElementRect(QStyle::SE_LineEditContents, &option, field).width();
      const int needed = field->fontMetrics().horizontalAdvance(field->placeholderText()) + 4;
      QVERIFY2(needed <= room, qPrintable(field->placeholderText()));
    }
  }

  void noButtonMovesForWhatIsSaid() {
    HostDialog dialog({QStringLiteral("lab")}, nullptr);
    dialog.show();
    QVERIFY(QTest::qWaitForWindowExposed(&dialog));
    const auto* button = dialog.findChild<QPushButton*>(QStringLiteral("connect"));
    const auto place = [&] { return QRect(button->mapTo(&dialog, QPoint()), dialog.size()); };
    const QRect before = place();
    for (const char* hosts : {"ada@hgx-07.lab:99999", "ada@[", "ada@hgx-07.lab"}) {
      type(&dialog, "hosts", QString::fromLatin1(hosts));
      type(&dialog, "name", QStringLiteral("lab"));
      QTest::qWait(50);
      QCOMPARE(place(), before);
    }
    QVERIFY(dialog.findChild<QLabel*>(QStringLiteral("fault"))->isVisible());
    type(&dialog, "name", QStringLiteral("lab2"));
    QTest::qWait(50);
    QCOMPARE(place(), before);
  }

  void publicAddressesAreAllowedByAMark() {
    HostDialog dialog({}, nullptr);
    dialog.show();
    type(&dialog, "hosts", QStringLiteral("ada@hgx-07.lab, ada@hgx-08.lab"));
    auto* mark = dialog.findChild<QCheckBox*>(QStringLiteral("public"));
    QVERIFY(!mark->isChecked());
    QVERIFY(!dialog.target().public_addresses);
    QTest::keyClick(mark, Qt::Key_Space);
    QVERIFY(dialog.target().public_addresses);
    // Kept as the shell keeps it, and shown again when the target is edited.
    const auto kept = remote::target_from_json(remote::to_json(dialog.target()));
    QVERIFY(kept && kept->public_addresses);
    HostDialog again({}, nullptr);
    again.edit(*kept);
    again.fill(formOf(*kept));
    again.show();
    QVERIFY(again.form().publicAddresses);
    auto* marked = again.findChild<QCheckBox*>(QStringLiteral("public"));
    QVERIFY(marked->isChecked());
    QVERIFY(again.target().public_addresses);
    QTest::keyClick(marked, Qt::Key_Space);
    QVERIFY(!again.target().public_addresses);
  }
};

HEDDLE_WIDGET_TEST(HostDialogTest)
#include "host_dialog_test.moc"
