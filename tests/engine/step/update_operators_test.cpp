// An optimizer's calls run the operators that they name.
#include "engine/step/update_operators.h"

#include <ATen/ATen.h>

#include <QTest>
#include <cmath>

#include "tests/support/test_class.h"

using heddle::optim::Value;

class UpdateOperatorsTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void results_are_operands_of_further_calls() {
    heddle::step::UpdateOperators operators;
    const Value ones = operators.add(at::ones({4})), twos = operators.add(at::full({9}, 2.0F));
    const auto squares = operators.call("heddle::squared_norms", {std::vector{ones, twos}});
    QCOMPARE(squares.size(), 2);
    const auto square = operators.call("heddle::total_norm", {squares});
    QCOMPARE(square.size(), 1);
    const auto factor = operators.call("heddle::clip_factor", {square[0], 20.0});
    const Value written = operators.add(at::zeros({}));
    QVERIFY(operators.call("heddle::accumulate_", {written, factor[0]}).empty());
    QVERIFY(std::abs(operators.tensor(written).item<double>() - 0.5) < 1e-6);  // 20 of 4 + 9 · 4
  }
};

HEDDLE_TEST(UpdateOperatorsTest)
#include "update_operators_test.moc"
