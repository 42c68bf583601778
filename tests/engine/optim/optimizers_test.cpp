// The table of optimizers: names and keys once each, states and updates that fit each other.
#include <QTest>
#include <algorithm>
#include <map>
#include <set>
#include <stdexcept>

#include "engine/optim/optimizer.h"
#include "tests/support/test_class.h"

using namespace heddle::optim;

namespace {

// Keeps the calls of an update.
class Calls : public Operators {
 public:
  std::vector<Value> call(const std::string& name,
                          const std::vector<Argument>& arguments) override {
    names.push_back(name);
    for (const Argument& argument : arguments) {
      if (const auto* value = std::get_if<Value>(&argument)) used.insert(*value);
      if (const auto* list = std::get_if<std::vector<Value>>(&argument))
        used.insert(list->begin(), list->end());
    }
    return {};
  }

  std::vector<std::string> names;
  std::set<Value> used;
};

}  // namespace

class OptimizersTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void each_is_found_by_its_name() {
    std::set<std::string> names;
    for (const Optimizer& each : optimizers()) {
      QVERIFY2(names.insert(each.name).second, each.name.c_str());
      QVERIFY(!each.words.empty());
      QCOMPARE(&optimizer_of(each.name), &each);
    }
    QVERIFY_EXCEPTION_THROWN((void)optimizer_of("adam"), std::out_of_range);
  }

  // The recipe has one key of a name, whichever optimizer it is for.
  void keys_of_one_name_are_the_same() {
    std::map<std::string, Key> keys;
    for (const Optimizer& each : optimizers())
      for (const Key& key : each.keys) {
        const auto [known, is_new] = keys.emplace(key.name, key);
        QVERIFY(!key.label.empty() && key.help.ends_with('.'));
        QCOMPARE(key.fallback.size(), size_t(key.kind == Key::Kind::pair ? 2 : 1));
        if (is_new) continue;
        QVERIFY2(known->second.kind == key.kind && known->second.range == key.range &&
                     known->second.fallback == key.fallback && known->second.help == key.help,
                 key.name.c_str());
      }
    for (const char* common : {"name", "lr", "weight_decay"}) QVERIFY(!keys.contains(common));
  }

  void updates_use_all_states() {
    for (const Optimizer& each : optimizers()) {
      const std::vector<State> states = each.states({3, 5}, {});
      Operands operands{.parameter = Value{0},
                        .states = {},
                        .gradient = Value{1},
                        .rate = Value{2},
                        .step = Value{3},
                        .factor = Value{4}};
      std::set<Value> tensors = {Value{0}, Value{1}, Value{2}, Value{4}};
      std::set<std::string> names;
      for (const State& state : states) {
        QVERIFY2(names.insert(state.name).second, state.name.c_str());
        operands.states.push_back(Value{10 + names.size()});
        tensors.insert(operands.states.back());
      }
      Calls calls;
      each.update(calls, operands, {});
      QVERIFY(!calls.names.empty());
      QVERIFY2(std::ranges::includes(calls.used, tensors), each.name.c_str());
    }
  }

  void a_key_that_is_missing_has_its_default() {
    const Key key{.name = "eps", .fallback = {1e-8}, .label = "eps", .help = "."};
    QCOMPARE(key.value({}), 1e-8);
    QCOMPARE(key.value({{"eps", {1e-6}}}), 1e-6);
  }
};

HEDDLE_TEST(OptimizersTest)
#include "optimizers_test.moc"
