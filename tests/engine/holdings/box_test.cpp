// The part of a parameter that each rank stores.
#include "engine/holdings/box.h"

#include "tests/support/test_class.h"

using namespace heddle::recipe;
using heddle::holdings::Box;
using heddle::holdings::stored_box;

namespace {

Mesh mesh_of(int64_t shards, int64_t tp) {
  Degrees degrees;
  degrees.dp_shard = shards;
  degrees.tp = tp;
  return Mesh(degrees);
}

}  // namespace

class BoxTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  // 7 rows over 2 tensor-parallel ranks are 4 + 3; the last of 3 shards has none of them.
  void every_element_is_stored_once() {
    for (const int64_t shards : {2, 3})
      for (const auto& [shape, cut] : {std::pair{std::vector<int64_t>{7, 6}, Cut::rows},
                                       {{7, 6}, Cut::columns},
                                       {{7}, Cut::none}}) {
        const Mesh mesh = mesh_of(shards, 2);
        std::vector<int> times(7 * 6, 0);
        for (int64_t rank = 0; rank < 2 * shards; ++rank) {
          const Box box = stored_box(shape, cut, mesh, rank);
          for (int64_t row = box.row_begin; row < box.row_end; ++row)
            for (int64_t column = box.column_begin; column < box.column_end; ++column)
              ++times[row * 6 + column];
        }
        const int copies = cut == Cut::none ? 2 : 1;  // an uncut parameter is on both
        for (int64_t row = 0; row < 7; ++row)
          for (int64_t column = 0; column < (shape.size() > 1 ? 6 : 1); ++column)
            QCOMPARE(times[row * 6 + column], copies);
      }
    // More ranks than rows: the last ones have none.
    QCOMPARE(stored_box({3, 4}, Cut::rows, mesh_of(1, 4), 3).rows(), 0);
  }
};

HEDDLE_TEST(BoxTest)
#include "box_test.moc"
