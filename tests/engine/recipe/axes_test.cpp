// The table of the mesh's axes: each has its key, its place in the recipe's text, and its groups.
#include "engine/recipe/axes.h"

#include <QTest>
#include <algorithm>

#include "engine/recipe/mesh.h"
#include "engine/recipe/parse.h"
#include "tests/support/test_class.h"

using namespace heddle::recipe;

class AxesTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void each_is_a_key_in_the_order_of_the_text() {
    const std::vector<std::string> degrees = keys_along(kWorld);
    QCOMPARE(degrees.size(), kAxes.size());
    std::vector<std::string> written;
    for (const KeyInfo& info : keys())
      if (std::ranges::find(degrees, info.key) != degrees.end()) written.push_back(info.key);
    QCOMPARE(written, degrees);
    QCOMPARE(find_key(kRest.key())->low, -1.0);
  }

  void each_degree_is_read_and_written() {
    for (const Axis& axis : kAxes) {
      const Parsed parsed = parse("", "", {axis.key() + "=3"});
      QVERIFY2(parsed.ok(), axis.name.data());
      QCOMPARE(parsed.recipe.parallelism.*axis.degree, 3);
      QVERIFY(to_toml(parsed.recipe).find(std::string(axis.name) + " = 3") != std::string::npos);
    }
  }

  void each_multiplies_the_mesh_and_names_its_group() {
    for (const Axis& axis : kAxes) {
      Degrees degrees = keep_degrees({}, 0);
      degrees.*axis.degree = 2;
      QCOMPARE(Mesh(degrees).size(), 2);
      QCOMPARE(Mesh(degrees).name(kWorld), std::string(axis.name));
      QCOMPARE(degrees_text(degrees), std::string(axis.name) + " 2");
    }
  }

  void a_search_cuts_the_model_before_samples() {
    const auto cut = std::ranges::find(kAxesAsSearched, Divides::samples, &Axis::divides);
    QVERIFY(std::all_of(cut, kAxesAsSearched.end(),
                        [](const Axis* axis) { return axis->divides == Divides::samples; }));
    QCOMPARE(kAxesAsSearched.front()->dim, kPp);
  }

  void dimensions_follow_from_what_an_axis_divides() {
    QCOMPARE(kSharing, kShard | kCp);
    QCOMPARE(kSamples, kReplicate | kShard);
    QCOMPARE(kTokens, kReplicate | kShard | kCp);
    QCOMPARE(kStage & kPp, Dims{0});
    QCOMPARE(kModel & kReplicate, Dims{0});
  }

  void lists_of_degrees_are_read_back() {
    const Degrees degrees = {.pp = 2, .dp_replicate = 3, .dp_shard = 4, .cp = 5, .tp = 6};
    QVERIFY(degrees_of(list_degrees(degrees)) == degrees);
    QVERIFY(!degrees_of({2, 3}));
    QCOMPARE(degrees_text(keep_degrees(degrees, kPp | kTp)), std::string("pp 2 × tp 6"));
    QCOMPARE(degrees_text(keep_degrees(degrees, 0)), std::string("one rank"));
  }
};

HEDDLE_TEST(AxesTest)
#include "axes_test.moc"
