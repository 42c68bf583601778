// Targets on a cluster: a real Slurm of two nodes, this machine its login node.
#include "gui/views/targets/cluster_card.h"

#include <QTemporaryDir>

#include "gui/theme/theme.h"
#include "gui/views/targets/targets_page.h"
#include "tests/gui/targets/dialogs.h"
#include "tests/support/results.h"
#include "tests/support/slurm.h"
#include "tests/support/test_class.h"

using namespace heddle;
using namespace heddle::gui;

class ClusterCardTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void initTestCase() { Theme::install(Theme::Mode::dark); }

  void nodes_and_own_jobs_are_shown() {
    const std::string missing = test::Slurm::missing();
    if (!missing.empty()) QSKIP(missing.c_str());
    auto slurm = test::Slurm::start();
    if (!slurm) QSKIP(slurm.error().message.c_str());  // its daemons, not ours
    const std::string job = (*slurm)->ask({"sbatch", "--parsable", "--comment=heddle:20261128-a",
                                           "--nodes=1", "--wrap", "sleep 600"});
    QVERIFY(!job.empty());
    QTRY_COMPARE_WITH_TIMEOUT((*slurm)->ask({"squeue", "-h", "-o", "%T"}), std::string("RUNNING\n"),
                              30000);
    const QTemporaryDir folder;
    remote::Target target = (*slurm)->target();
    target.root = folder.filePath(QStringLiteral("root")).toStdString();
    Session session(folder.filePath(QStringLiteral("store.sqlite")));
    TargetsPage page(session);
    page.resize(1400, 900);
    page.show();
    page.activated();
    QTRY_VERIFY(page.isReady());
    session.keep([target](workbench::Workbench& workbench) {
      return workbench::save_target(workbench.writer(), {target, {}});
    });
    auto reader = must(storage::Reader::open(session.storePath().toStdString()));
    QTRY_VERIFY(workbench::find_target(reader, target.name).has_value());
    page.activated();
    auto* list = page.findChild<HostList*>();
    QTRY_COMPARE(list->model()->rowCount(), 2);
    list->setCurrentIndex(list->model()->index(1, 0));
    auto* card = page.findChild<ClusterCard*>(QStringLiteral("cluster"));
    QVERIFY(!card->isVisible());
    test::press(&page, "probe");
    QTRY_VERIFY_WITH_TIMEOUT(card->isVisible(), 30000);
    QVERIFY2(card->note().startsWith(QStringLiteral("partition train: 2 nodes")),
             qPrintable(card->note()));
    const auto* nodes = card->findChild<QListView*>(QStringLiteral("nodes"));
    QCOMPARE(nodes->model()->rowCount(), 2);
    const QString tip = nodes->model()->index(0, 0).data(Qt::ToolTipRole).toString();
    QVERIFY2(tip.contains(QStringLiteral("cores in use")), qPrintable(tip));
    QStringList words;
    for (const auto* label : card->findChildren<QLabel*>()) {
      const auto* elided = qobject_cast<const ElidedLabel*>(label);
      words << (elided ? elided->fullText() : label->text());
    }
    QVERIFY2(words.contains(QStringLiteral("20261128-a")), qPrintable(words.join(u'|')));
    QCOMPARE(words.filter(QStringLiteral("runs on n")).size(), 1);
    // Another target shows nothing.
    list->setCurrentIndex(list->model()->index(0, 0));
    QVERIFY(!card->isVisible());
  }
};

HEDDLE_WIDGET_TEST(ClusterCardTest)
#include "cluster_card_test.moc"
