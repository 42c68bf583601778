// No two streams of a program touch the same memory while nothing orders them, over all kinds of
// layouts, and a program that is broken in one place is found out, whatever place that is.
#include "engine/runtime/races.h"

#include <ATen/ops/zeros.h>

#include <QTest>
#include <functional>
#include <map>
#include <set>

#include "engine/predict/planner.h"
#include "engine/predict/rates_here.h"
#include "engine/step/capture.h"
#include "tests/support/small_recipe.h"
#include "tests/support/test_class.h"

using namespace heddle;
using runtime::Call;
using runtime::Instruction;
using runtime::Program;
using runtime::Start;
using runtime::Stepping;
using runtime::Wait;

namespace {

passes::Plan planned(const recipe::Recipe& recipe, int64_t rank) {
  auto planned = predict::capture_and_plan(recipe, rank, predict::rates_here(recipe));
  if (!planned) qFatal("%s", planned.error().message.c_str());
  return std::move(planned->plan);
}

Result<Program> program_of(passes::Plan plan) {
  runtime::NamedTensors states;
  for (const graph::Binding& state : plan.graph.states) {
    const graph::Value& value = plan.graph.values[state.value];
    states[state.name] = at::zeros(value.sizes, at::TensorOptions(value.dtype));
  }
  return Program::create(std::move(plan.graph), std::move(plan.memory), states, at::kCPU);
}

Program program_of(const recipe::Recipe& recipe, int64_t rank) {
  auto program = program_of(planned(recipe, rank));
  if (!program) qFatal("%s", program.error().message.c_str());
  return std::move(*program);
}

bool overlap(const at::Tensor& a, const at::Tensor& b) {
  if (!a.defined() || !b.defined() || a.numel() == 0 || b.numel() == 0) return false;
  const auto begin = [](const at::Tensor& t) {
    return static_cast<const std::byte*>(t.const_data_ptr());
  };
  const auto end = [&](const at::Tensor& t) {
    int64_t last = 0;
    for (int64_t d = 0; d < t.dim(); ++d) last += (t.size(d) - 1) * t.stride(d);
    return begin(t) + (last + 1) * static_cast<int64_t>(t.element_size());
  };
  return begin(a) < end(b) && begin(b) < end(a);
}

bool any_overlap(const std::vector<at::Tensor>& some, const at::Tensor& one) {
  return std::ranges::any_of(some, [&](const at::Tensor& each) { return overlap(each, one); });
}

std::vector<at::Tensor> arguments_of(const Call& call) {
  std::vector<at::Tensor> all;
  for (const c10::IValue& argument : call.arguments) {
    if (argument.isTensor()) all.push_back(argument.toTensor());
    if (argument.isTensorList())
      for (const at::Tensor& each : argument.toTensorVector()) all.push_back(each);
  }
  return all;
}

std::vector<at::Tensor> written_by(const Call& call) {
  std::vector<at::Tensor> all = call.results;
  const auto& schema = call.op.schema().arguments();
  for (size_t i = 0; i < call.arguments.size(); ++i) {
    const c10::AliasInfo* alias = schema[i].alias_info();
    if (!alias || !alias->isWrite()) continue;
    if (call.arguments[i].isTensor()) all.push_back(call.arguments[i].toTensor());
    if (call.arguments[i].isTensorList())
      for (const at::Tensor& each : call.arguments[i].toTensorVector()) all.push_back(each);
  }
  return all;
}

/// One way to break a program, and where.
struct Mutant {
  std::string what;
  std::function<void(std::vector<Instruction>&)> apply;
};

/// A collective's instructions, and the first wait after its start, in this step or the next, that
/// has it done: its own, or one for a later collective of its group.
struct Flight {
  size_t start, wait, done;
};

std::vector<Flight> flights_of(const std::vector<Instruction>& all) {
  std::map<size_t, size_t> waits;  // by slot
  for (size_t i = 0; i < all.size(); ++i)
    if (const auto* wait = std::get_if<Wait>(&all[i].what)) waits[wait->slot] = i;
  std::vector<Flight> flights;
  for (size_t i = 0; i < all.size(); ++i) {
    const auto* start = std::get_if<Start>(&all[i].what);
    if (!start) continue;
    std::set<size_t> later{start->slot};
    size_t at = (i + 1) % all.size();
    for (;; at = (at + 1) % all.size()) {
      const auto* other = std::get_if<Start>(&all[at].what);
      if (other && other->group == start->group) later.insert(other->slot);
      const auto* wait = std::get_if<Wait>(&all[at].what);
      if (wait && later.contains(wait->slot)) break;
    }
    flights.push_back({i, waits.at(start->slot), at});
  }
  return flights;
}

/// Whether the instruction waits for a collective of this group.
bool waits_for(const std::vector<Instruction>& all, size_t index, const std::string& group) {
  const auto* wait = std::get_if<Wait>(&all[index].what);
  return wait && std::ranges::any_of(all, [&](const Instruction& each) {
           const auto* start = std::get_if<Start>(&each.what);
           return start && start->slot == wait->slot && start->group == group;
         });
}

void move_to(std::vector<Instruction>& instructions, size_t from, size_t to) {
  Instruction moved = instructions[from];
  instructions.erase(instructions.begin() + static_cast<ptrdiff_t>(from));
  instructions.insert(instructions.begin() + static_cast<ptrdiff_t>(to), std::move(moved));
}

/// The wait comes after the first operator that reads what has been transferred. Left out where
/// another wait has the collective done by then.
void add_late_wait(const std::vector<Instruction>& all, const Flight& flight,
                   std::vector<Mutant>& mutants) {
  const auto& start = std::get<Start>(all[flight.start].what);
  if (flight.done != flight.wait) return;
  for (size_t i = flight.wait + 1; i < all.size(); ++i) {
    if (waits_for(all, i, start.group)) return;
    const auto* call = std::get_if<Call>(&all[i].what);
    if (!call) continue;
    const std::vector<at::Tensor> read = arguments_of(*call);
    if (!std::ranges::any_of(start.to, [&](const auto& to) { return any_overlap(read, to); }))
      continue;
    mutants.push_back({"the wait after the reader",
                       [flight, i](auto& instructions) { move_to(instructions, flight.wait, i); }});
    return;
  }
}

/// The collective starts before the operator that writes what it reads.
void add_early_start(const std::vector<Instruction>& all, const Flight& flight,
                     std::vector<Mutant>& mutants) {
  const auto& start = std::get<Start>(all[flight.start].what);
  for (size_t i = flight.start; i-- > 0;) {
    if (std::get_if<Wait>(&all[i].what) && i == flight.wait) return;  // of the step before
    const auto* call = std::get_if<Call>(&all[i].what);
    if (!call) continue;
    const std::vector<at::Tensor> written = written_by(*call);
    if (!std::ranges::any_of(start.from,
                             [&](const auto& from) { return any_overlap(written, from); }))
      continue;
    mutants.push_back({"the start before the writer", [flight, i](auto& instructions) {
                         move_to(instructions, flight.start, i);
                       }});
    return;
  }
}

/// While the collective is under way an operator's result is put where it reads or writes, and its
/// scratch where an operator's result is.
void add_shared_places(const std::vector<Instruction>& all, const Flight& flight,
                       std::vector<Mutant>& mutants) {
  const auto& start = std::get<Start>(all[flight.start].what);
  const size_t end = flight.done > flight.start ? flight.done : all.size();
  for (size_t i = flight.start + 1; i < end; ++i) {
    const auto* call = std::get_if<Call>(&all[i].what);
    if (!call || call->results.empty() || !call->results.front().defined() ||
        call->results.front().numel() == 0)
      continue;
    for (const auto& [what, memory] :
         {std::pair{"a result where it reads", start.from}, {"a result where it writes", start.to}})
      if (!memory.empty() && memory.front().numel() > 0)
        mutants.push_back({what, [i, place = memory.front()](auto& instructions) {
                             std::get<Call>(instructions[i].what).results.front() = place;
                           }});
    mutants.push_back({"its scratch where a result is", [flight, i](auto& instructions) {
                         const at::Tensor result =
                             std::get<Call>(instructions[i].what).results.front();
                         std::get<Start>(instructions[flight.start].what).placement.scratch = {
                             static_cast<std::byte*>(result.data_ptr()), result.nbytes()};
                       }});
    return;
  }
}

std::vector<Mutant> mutants_of(const std::vector<Instruction>& all) {
  std::vector<Mutant> mutants;
  for (const Flight& flight : flights_of(all)) {
    add_late_wait(all, flight, mutants);
    add_early_start(all, flight, mutants);
    add_shared_places(all, flight, mutants);
    mutants.push_back({"no wait", [flight](auto& instructions) {
                         instructions.erase(instructions.begin() +
                                            static_cast<ptrdiff_t>(flight.wait));
                       }});
    mutants.push_back({"no start", [flight](auto& instructions) {
                         instructions.erase(instructions.begin() +
                                            static_cast<ptrdiff_t>(flight.start));
                       }});
  }
  return mutants;
}

struct Layout {
  const char* name;
  QStringList sets;
};

const QList<Layout> kLayouts = {
    {"dp", {}},
    {"dp, bf16", {"precision.param=\"bf16\""}},
    {"dp, a bucket a layer", {"wrapping.mode=\"layers\""}},
    {"dp, recomputed", {"recompute.mode=\"full\""}},
    {"dp, no clipping", {"training.max_norm=0"}},
    {"dp, parameters kept", {"wrapping.reshard_after_forward=false"}},
    {"dp, 3 micro-batches, each reduced",
     {"training.global_batch=48", "wrapping.reduce_each=\"micro-batch\""}},
    {"hsdp", {"parallelism.dp_replicate=2"}},
    {"tp", {"parallelism.tp=2"}},
    {"tp in chunks", {"parallelism.tp=2", "parallelism.tp_chunks=2"}},
    {"tp without sequence parallelism",
     {"parallelism.tp=2", "parallelism.sequence_parallel=false"}},
    {"cp by all-gather", {"parallelism.cp=2"}},
    {"cp by a ring", {"parallelism.cp=4", "parallelism.cp_mode=\"ring\""}},
    {"cp by heads", {"parallelism.cp=2", "parallelism.cp_mode=\"ulysses\""}},
    {"cp and tp", {"parallelism.cp=2", "parallelism.tp=2"}},
    {"gpipe", {"parallelism.pp=2", "parallelism.pp_schedule=\"gpipe\""}},
    {"1f1b", {"parallelism.pp=4"}},
    {"interleaved", {"parallelism.pp=2", "parallelism.pp_schedule=\"interleaved\""}},
    {"zero bubble", {"parallelism.pp=2", "parallelism.pp_schedule=\"zero-bubble\""}},
    {"1f1b and tp", {"parallelism.pp=2", "parallelism.tp=2"}},
    {"1f1b, replicas, tied",
     {"parallelism.pp=2", "parallelism.dp_replicate=2", "model.tied_embeddings=true"}},
};

}  // namespace

class RacesTest : public QObject {
  Q_OBJECT

  static void layouts() {
    QTest::addColumn<QStringList>("sets");
    for (const Layout& layout : kLayouts) QTest::newRow(layout.name) << layout.sets;
  }

 private Q_SLOTS:
  void initTestCase() { qputenv("HEDDLE_VERIFY", "1"); }

  void no_layout_has_a_race_data() { layouts(); }
  void no_layout_has_a_race() {
    QFETCH(QStringList, sets);
    const recipe::Recipe recipe = small_recipe(sets);
    for (int64_t rank = 0; rank < recipe.hardware.ranks; ++rank) {
      const Program program = program_of(recipe, rank);
      for (const Stepping stepping : {Stepping::instructions, Stepping::recorded}) {
        const auto ordered = runtime::check_races(program, stepping);
        QVERIFY2(ordered, ordered ? "" : ordered.error().message.c_str());
      }
    }
  }

  void every_mutant_is_found_data() { layouts(); }
  void every_mutant_is_found() {
    QFETCH(QStringList, sets);
    const recipe::Recipe recipe = small_recipe(sets);
    Program program = program_of(recipe, recipe.hardware.ranks - 1);
    const std::vector<Instruction> sound = program.instructions;
    const std::vector<Mutant> mutants = mutants_of(sound);
    QStringList missed;
    for (const Mutant& mutant : mutants) {
      program.instructions = sound;
      mutant.apply(program.instructions);
      if (runtime::check_races(program, Stepping::instructions))
        missed << QString::fromStdString(mutant.what);
    }
    qInfo("%zu mutants, %lld missed", mutants.size(), static_cast<long long>(missed.size()));
    QVERIFY(mutants.size() > 20);
    QVERIFY2(missed.isEmpty(), qPrintable(missed.join(", ")));
  }

  // With HEDDLE_VERIFY a program is checked when it is made.
  void a_program_with_a_race_is_refused() {
    passes::Plan plan = planned(small_recipe({}), 0);
    for (int64_t& place : plan.memory.place) place = std::min<int64_t>(place, 0);
    const auto program = program_of(std::move(plan));
    QVERIFY(!program);
    QVERIFY2(QString::fromStdString(program.error().message).contains("nothing orders them"),
             program.error().message.c_str());
  }
};

HEDDLE_TEST(RacesTest)
#include "races_test.moc"
