// Where the ranks of a mesh are drawn, what their colours are, and which are lit.
#include "gui/views/compose/mesh_view.h"

#include <QSet>
#include <QTest>

#include "gui/theme/theme.h"
#include "gui/views/compose/mesh_panel.h"
#include "tests/support/test_class.h"

using namespace heddle;
using namespace heddle::gui;

class MeshViewTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void initTestCase() { Theme::install(Theme::Mode::dark); }

  void any_number_of_ranks_has_cells_of_their_own_data() {
    QTest::addColumn<int>("ranks");
    QTest::addColumn<int>("smallest");  // side of a cell
    for (const auto& [ranks, smallest] : {std::pair(1, 20),
                                          {2, 20},
                                          {6, 20},
                                          {8, 20},
                                          {12, 20},
                                          {64, 20},
                                          {65, 7},
                                          {256, 7},
                                          {512, 6},
                                          {1024, 4},
                                          {2048, 2}})
      QTest::newRow(qPrintable(QString::number(ranks))) << ranks << smallest;
  }

  void any_number_of_ranks_has_cells_of_their_own() {
    QFETCH(int, ranks);
    QFETCH(int, smallest);
    MeshView view;
    view.resize(344, 100);
    view.setMesh(mesh(1, ranks, 1, 1), ranks, 8, true);
    QVERIFY2(view.height() <= 260, qPrintable(QString::number(view.height())));
    QRegion taken;
    for (int rank = 0; rank < ranks; ++rank) {
      const QRect cell = view.cellRect(rank);
      QVERIFY2(QRect(0, 0, 344, view.height()).contains(cell), qPrintable(QString::number(rank)));
      QVERIFY(!taken.intersects(cell));
      QVERIFY(std::min(cell.width(), cell.height()) >= smallest);
      taken += cell;
    }
  }

  void a_node_is_a_block() {
    MeshView view;
    view.resize(344, 100);
    view.setMesh(mesh(8, 8, 1, 8), 512, 8, true);
    const auto block = [&](int node) {
      QRect all;
      for (int rank = node * 8; rank < node * 8 + 8; ++rank) all |= view.cellRect(rank);
      return all;
    };
    for (int node = 0; node + 1 < 64; ++node) QVERIFY(!block(node).intersects(block(node + 1)));
    // Further from the next node than from each other.
    const int within = view.cellRect(1).left() - view.cellRect(0).right();
    QVERIFY(block(1).left() - block(0).right() > within + 1);
  }

  void groups_of_the_mesh_differ() {
    constexpr int kGroups = 24;
    recipe::Parallelism replicas;
    replicas.dp_replicate = kGroups;
    replicas.dp_shard = 1;
    MeshView mesh;
    mesh.resize(320, 10);
    mesh.setMesh(recipe::Mesh(replicas), kGroups, 8, true);
    const QImage drawn = mesh.grab().toImage();
    QSet<QRgb> fills;
    for (int rank = 0; rank < kGroups; ++rank)
      fills.insert(drawn.pixel(mesh.cellRect(rank).topLeft() + QPoint(3, 3)));
    QCOMPARE(fills.size(), qsizetype(kGroups));
  }

  void the_header_says_what_colours_are_data() {
    QTest::addColumn<QString>("parallelism");
    QTest::addColumn<QString>("words");
    QTest::newRow("stages") << "tp = 8\npp = 8"
                            << "one colour to a stage of 64 ranks";
    QTest::newRow("stages of one rank") << "pp = 8\ntp = 8\ndp_shard = 8"
                                        << "one colour to a stage of 64 ranks";
    QTest::newRow("groups") << "tp = 8\ndp_shard = 64"
                            << "one colour to a group of 64 shards";
    QTest::newRow("one group") << "dp_shard = 512"
                               << "one group of 512 shards";
    QTest::newRow("copies") << "dp_shard = 1\ndp_replicate = 512"
                            << "nothing is sharded";
    QTest::newRow("no mesh") << "tp = 3"
                             << "";
  }

  void the_header_says_what_colours_are() {
    QFETCH(QString, parallelism);
    RecipeDocument document;
    document.load("mine",
                  "[model]\npreset = \"llama3-8b\"\n[parallelism]\n" + parallelism +
                      "\n[hardware]\nranks = 512\n",
                  {});
    QLabel product;
    MeshPanel panel(document, &product);
    panel.refresh();
    QTEST(panel.findChild<QLabel*>("meshNote")->text(), "words");
  }

  void groups_are_lit_under_the_mouse() {
    MeshView view;
    view.resize(344, 100);
    view.setMesh(mesh(8, 8, 1, 8), 512, 8, true);
    view.show();
    const QImage before = view.grab().toImage();
    QMouseEvent move(QEvent::MouseMove, view.cellRect(137).center(),
                     view.mapToGlobal(view.cellRect(137).center()), Qt::NoButton, {}, {});
    QCoreApplication::sendEvent(&view, &move);
    QCOMPARE(view.hovered(), qint64{137});
    const QImage lit = view.grab().toImage();
    const auto color = [&](int rank) { return lit.pixelColor(view.cellRect(rank).center()); };
    QVERIFY(lit != before);
    QCOMPARE(color(138), color(139));      // of one node: tensor parallel
    QCOMPARE(color(137 + 64), color(73));  // the same of the next and of the last stage
    QVERIFY(color(138) != color(137 + 64));
    QVERIFY(color(0) != color(138));
    QCOMPARE(color(0), color(1));  // no group of its: faint
  }

  void more_ranks_than_can_be_told_apart() {
    MeshView view;
    view.resize(344, 100);
    view.setMesh(mesh(16, 128, 1, 8), 16384, 8, true);
    QCOMPARE(view.cellRect(0), view.cellRect(7));
    QVERIFY(view.cellRect(0) != view.cellRect(8));
    QVERIFY(view.height() <= 260);
  }

 private:
  static recipe::Mesh mesh(int pp, int shard, int cp, int tp) {
    recipe::Parallelism p;
    p.pp = pp;
    p.dp_shard = shard;
    p.cp = cp;
    p.tp = tp;
    return recipe::Mesh(p);
  }
};

HEDDLE_WIDGET_TEST(MeshViewTest)
#include "mesh_view_test.moc"
