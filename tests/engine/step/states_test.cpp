// The starting weights leave nothing of what was in the states before.
#include "engine/step/states.h"

#include <ATen/ops/equal.h>
#include <ATen/ops/full.h>
#include <ATen/ops/zeros_like.h>

#include <QTest>

#include "engine/holdings/states.h"
#include "engine/recipe/layout.h"
#include "tests/support/small_recipe.h"
#include "tests/support/test_class.h"

using namespace heddle;

class StatesTest : public QObject {
  Q_OBJECT

 private:
  /// All states of rank 0, full of one number.
  static runtime::NamedTensors states_of(const recipe::Recipe& recipe, double number) {
    runtime::NamedTensors tensors;
    for (const holdings::State& state : holdings::states_of(recipe, recipe::Layout(recipe), 0))
      tensors[state.name] =
          at::full(state.shape, number, at::TensorOptions(step::dtype_of(state.element)));
    return tensors;
  }

 private Q_SLOTS:
  // A checkpoint that another rank could not load may have been loaded here: ranks that begin again
  // after it begin alike.
  void starting_weights_clear_what_was_loaded() {
    const recipe::Recipe recipe = small_recipe(QStringList());
    const auto fresh = states_of(recipe, 0), used = states_of(recipe, 3);
    QVERIFY(step::load_weights(recipe, 0, fresh));
    QVERIFY(step::load_weights(recipe, 0, used));
    int optimizers = 0;
    for (const step::StoredState& state : step::stored_states(recipe, 0, used)) {
      QVERIFY2(at::equal(state.tensor, fresh.at(state.row.name)), state.row.name.c_str());
      if (state.row.role != holdings::Role::optimizer) continue;
      QVERIFY2(at::equal(state.tensor, at::zeros_like(state.tensor)), state.row.name.c_str());
      ++optimizers;
    }
    QVERIFY(optimizers > 0);
  }
};

HEDDLE_TEST(StatesTest)
#include "states_test.moc"
