// The ranks as a mesh: the groups of ranks, and where layers are.
#include "engine/recipe/mesh.h"

#include <QTest>

#include "engine/recipe/layout.h"
#include "engine/recipe/parse.h"
#include "tests/support/test_class.h"

using namespace heddle::recipe;

namespace {

Mesh mesh_of(int64_t pp, int64_t replicate, int64_t shard, int64_t cp, int64_t tp) {
  Parallelism parallelism;
  parallelism.pp = pp;
  parallelism.dp_replicate = replicate;
  parallelism.dp_shard = shard;
  parallelism.cp = cp;
  parallelism.tp = tp;
  return Mesh(parallelism);
}

}  // namespace

class MeshTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void runs_from_pp_to_tp() {
    const Mesh mesh = mesh_of(2, 1, 3, 1, 2);
    QCOMPARE(mesh.size(), 12);
    QCOMPARE(mesh.index(1, kTp), 1);
    QCOMPARE(mesh.index(2, kShard), 1);
    QCOMPARE(mesh.index(6, kPp), 1);
    QCOMPARE(mesh.group(3, kShard), (std::vector<int>{1, 3, 5}));
    QCOMPARE(mesh.group(3, kPp), (std::vector<int>{3, 9}));
    QCOMPARE(mesh.group(3, kTp | kShard), (std::vector<int>{0, 1, 2, 3, 4, 5}));
    QCOMPARE(mesh.name(kTp | kShard), std::string("dp_shard+tp"));
    QCOMPARE(mesh.name(kCp), std::string());
    // One group, one name: dimensions of one rank do not count.
    QCOMPARE(mesh.name(kSharing), mesh.name(kShard));
  }

  void a_group_is_who_differs_along_its_dimensions_alone() {
    const Mesh mesh = mesh_of(2, 3, 2, 1, 4);
    for (Dims dims = 0; dims <= kWorld; ++dims)
      for (int64_t rank = 0; rank < mesh.size(); ++rank) {
        std::vector<int> members;
        for (int64_t other = 0; other < mesh.size(); ++other)
          if (mesh.index(other, kWorld & ~dims) == mesh.index(rank, kWorld & ~dims))
            members.push_back(static_cast<int>(other));
        QCOMPARE(mesh.group(rank, dims), members);
        QCOMPARE(members[static_cast<size_t>(mesh.index(rank, dims))], static_cast<int>(rank));
      }
  }

  void layers_of_stages_data() {
    QTest::addColumn<int>("layers");
    QTest::addColumn<int>("pp");
    QTest::addColumn<QString>("schedule");
    QTest::addColumn<QString>("expected");
    QTest::newRow("even") << 6 << 2 << "1f1b"
                          << "3 3";
    QTest::newRow("lighter at the ends") << 6 << 4 << "1f1b"
                                         << "1 2 2 1";
    QTest::newRow("405B") << 126 << 16 << "1f1b"
                          << "7 8 8 8 8 8 8 8 8 8 8 8 8 8 8 7";
    QTest::newRow("a layer each") << 4 << 4 << "1f1b"
                                  << "1 1 1 1";
    QTest::newRow("two stages a rank") << 8 << 2 << "interleaved"
                                       << "1 3 3 1";
    QTest::newRow("too few layers for two") << 3 << 2 << "interleaved"
                                            << "2 1";
  }
  void layers_of_stages() {
    QFETCH(int, layers);
    QFETCH(int, pp);
    QFETCH(QString, schedule);
    QFETCH(QString, expected);
    const std::string text = QString(
                                 "[model]\ndim = 8\nn_heads = 2\nffn_dim = 8\nvocab_size = 9\n"
                                 "n_layers = %1\n[data]\ntoken_ids = \"x\"\nseq_len = 8\n"
                                 "[training]\nlocal_batch = 16\n[parallelism]\npp = %2\n"
                                 "pp_schedule = \"%3\"\n[hardware]\nranks = %2\n")
                                 .arg(layers)
                                 .arg(pp)
                                 .arg(schedule)
                                 .toStdString();
    const Parsed parsed = resolve(parse(text, "stages.toml"));
    QVERIFY2(parsed.ok(), parsed.ok() ? "" : parsed.faults[0].str().c_str());
    QStringList found;
    const Layout layout(parsed.recipe);
    for (const int64_t each : layout.stage_layers()) found << QString::number(each);
    QCOMPARE(found.join(' '), expected);
    QCOMPARE(layout.stage_of("tok_embeddings"), 0);
    QCOMPARE(layout.stage_of("output"), layout.stages() - 1);
    QCOMPARE(layout.stage_of("layers.0.attention.wq"), 0);
    QCOMPARE(layout.stage_of(""), -1);
  }
};

HEDDLE_TEST(MeshTest)
#include "mesh_test.moc"
