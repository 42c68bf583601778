// Values as people read them, side by side.
#include "gui/models/value.h"

#include <QTest>

#include "tests/support/test_class.h"

using namespace heddle;
using namespace heddle::gui;

namespace {

QStringList shown(const char* key, std::vector<std::optional<storage::Value>> values) {
  return valueTexts(key, values);
}

}  // namespace

class ValueTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void values_that_differ_do_not_look_the_same() {
    QCOMPARE(shown("peak_bytes", {208'375'808.0, 208'375'808.0}),
             QStringList({"199 MiB", "199 MiB"}));
    QCOMPARE(shown("peak_bytes", {208'375'808.0, 208'300'000.0, std::nullopt}),
             QStringList({"198.72 MiB", "198.65 MiB", "–"}));
    QCOMPARE(shown("step_seconds", {0.1000001, 0.1000002}),
             QStringList({"100.0001 ms", "100.0002 ms"}));
    QCOMPARE(shown("tokens_per_second_per_rank", {6667.2, 6666.9}),
             QStringList({"6,667.2 tok/s", "6,666.9 tok/s"}));
    QCOMPARE(shown("loss", {3.9811, 3.9812}), QStringList({"3.9811", "3.9812"}));
    QCOMPARE(shown("mfu", {0.41201, 0.41202}), QStringList({"41.201 %", "41.202 %"}));
    QCOMPARE(shown("recipe.optimizer.lr", {1.00001e-4, 1e-4}),
             QStringList({"1.00001e-4", "1.00000e-4"}));
  }

  void what_is_not_finite_has_a_name() {
    QCOMPARE(shown("last_loss", {NAN, INFINITY, -INFINITY, std::nullopt}),
             QStringList({"NaN", "∞", "−∞", "–"}));
  }

  void small_losses_keep_their_digits() {
    QCOMPARE(shown("last_loss", {4.026e-4, 1.0e-4}), QStringList({"0.000403", "0.000100"}));
  }

  void words_take_one_line() {
    QCOMPARE(shown("environment.host", {std::string("lo\nom\u202e")}),
             QStringList({"lo\\nom\\u202e"}));
  }

  void words_of_recipes_have_neither_quotes_nor_noise() {
    QCOMPARE(shown("wrapping.mode", {std::string("\"layers\""), std::string("\"\"")}),
             QStringList({"layers", "\"\""}));
    QCOMPARE(shown("optimizer.lr", {std::string("8.999999999999999e-4"), std::string("9e-4"),
                                    std::string("0.00031622776601683794")}),
             QStringList({"9e-4", "9e-4", "3.16227766e-4"}));
    QCOMPARE(shown("training.seed", {std::string("12345678901234"), std::string("1.0")}),
             QStringList({"12345678901234", "1.0"}));
  }

  void a_median_is_called_one() {
    QCOMPARE(resultText("exposed_seconds"), QString("exposed, median"));
    QCOMPARE(resultText("predicted_exposed_seconds"), QString("predicted exposed"));
  }

  void a_last_bit_is_no_difference() {
    QCOMPARE(shown("step_seconds", {0.3, 0.1 + 0.2}), QStringList({"300 ms", "300 ms"}));
  }
};

HEDDLE_TEST(ValueTest)
#include "value_test.moc"
