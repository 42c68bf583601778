#include "engine/step/graph_file.h"

#include <algorithm>
#include <array>
#include <set>
#include <sstream>
#include <vector>

#include "base/read_file.h"
#include "engine/graph/text.h"
#include "engine/holdings/parameters.h"
#include "engine/holdings/states.h"
#include "engine/passes/pipeline.h"
#include "engine/passes/unroll.h"
#include "engine/recipe/parse.h"
#include "engine/step/capture.h"

namespace heddle::step {
namespace {

using graph::Graph;

constexpr const char* kCapture = "capture";

/// The settings that a step is made from: until the pass that makes one part of the graph, another
/// value is as good.
std::vector<recipe::KeyInfo> sources() {
  std::vector<recipe::KeyInfo> all = recipe::keys();
  std::erase_if(all, [](const recipe::KeyInfo& info) { return info.graph.empty(); });
  return all;
}

using passes::position_of;

constexpr size_t kMaxGraphBytes = size_t{256} << 20;  // 405B's step on a rank takes some megabytes

/// Sums of gradients and losses within one step: a planned step need not keep them.
std::set<std::string> sums_of(const recipe::Recipe& recipe) {
  std::set<std::string> sums = {holdings::loss_sum().name};
  for (const holdings::Parameter& parameter :
       holdings::parameters_of(recipe, recipe::Layout(recipe)))
    sums.insert(holdings::gradient_sum(recipe, parameter).name);
  return sums;
}

class Check {
 public:
  Check(const std::string& path, std::string_view text, const Graph& graph,
        const recipe::Recipe& recipe)
      : path_(path), text_(text), graph_(graph), recipe_(recipe), after_(last_pass_of(graph)) {}

  Result<> run() {
    notes();
    if (!faults_.empty()) return done();
    const auto captured = capture_step(recipe_);
    if (!captured) return fail(captured);
    groups(captured->graph);
    inputs(captured->graph);
    states(captured->graph);
    outputs(captured->graph);
    return done();
  }

 private:
  void notes() {
    if (position_of(after_) > passes::all_passes().size())
      return fault("note after =", kAfter,
                   fmt::format("\"{}\" is no pass; valid: capture, {}", after_,
                               fmt::join(passes::kPassNames, ", ")));
    if (recipe_.parallelism.pp > 1 && position_of(after_) >= position_of("stage"))
      return fault("note after =", kAfter,
                   fmt::format("the graph is one rank's of a pipeline after the pass {}, and every "
                               "rank needs its own; valid: a graph after capture or recompute",
                               after_));
    const auto recipe = made_from(recipe_);
    for (const recipe::KeyInfo& source : sources()) {
      if (position_of(source.graph) > position_of(after_)) continue;
      const std::string note = fmt::format("note {} =", source.key);
      const auto wanted = recipe.find(source.key);
      if (wanted == recipe.end()) continue;  // another optimizer's
      const auto stated = graph_.notes.find(source.key);
      if (stated == graph_.notes.end()) {
        fault(note, source.key,
              "the graph does not say what it was made with; valid: a graph that heddle-engine "
              "graph printed");
        return;
      }
      if (stated->second != wanted->second)
        fault(note, source.key,
              fmt::format("the graph says {}, the recipe {}; valid: {} in the recipe, or a graph "
                          "made from this recipe",
                          stated->second, wanted->second, stated->second));
    }
  }

  void groups(const Graph& recipe) {
    for (const auto& [name, ranks] : graph_.groups) {
      const auto known = recipe.groups.find(name);
      if (known == recipe.groups.end()) {
        fault("group " + name + " =", "group " + name,
              fmt::format("the recipe's layout has no such group; valid: {}",
                          fmt::join(names_of(recipe.groups), ", ")));
      } else if (known->second != ranks) {
        fault("group " + name + " =", "group " + name,
              fmt::format("the graph says {} ranks, the recipe {}; valid: {}", ranks, known->second,
                          known->second));
      }
    }
    for (const graph::Node& node : graph_.nodes)
      if (graph::is_collective(node) && !graph_.groups.contains(graph::group_of(node)))
        return fault("\"" + graph::group_of(node) + "\"", node.op,
                     fmt::format("the graph does not say how many ranks the group \"{}\" has; "
                                 "valid: {}",
                                 graph::group_of(node), fmt::join(names_of(graph_.groups), ", ")));
  }

  void inputs(const Graph& recipe) {
    const bool unrolled = position_of(after_) >= position_of("unroll");
    const int64_t micro_batches = recipe_.micro_batches();
    if (graph_.micro_batches != (unrolled ? 1 : micro_batches))
      fault("micro_batches =", "micro_batches",
            fmt::format("the graph says {}, the recipe {}; valid: {}", graph_.micro_batches,
                        micro_batches, unrolled ? 1 : micro_batches));
    for (const graph::Binding& input : graph_.inputs) {
      const auto [name, micro_batch] = passes::micro_batch_input(input.name);
      if (micro_batch < 0 || micro_batch >= micro_batches)
        fault("input", input.name,
              fmt::format("the recipe has {} micro-batches a step", micro_batches), true);
      compare("input", input, name, recipe.inputs, recipe);
    }
  }

  void states(const Graph& recipe) {
    for (const graph::Binding& state : graph_.states)
      compare("state", state, state.name, recipe.states, recipe);
    const std::set<std::string> sums = sums_of(recipe_);
    for (const graph::Binding& state : recipe.states)
      if (!sums.contains(state.name) && !find(graph_.states, state.name))
        fault("", "state " + state.name,
              fmt::format("the recipe's step keeps it ({}), the graph does not",
                          type_of(recipe, state)));
  }

  void outputs(const Graph& recipe) {
    for (const graph::Binding& output : recipe.outputs) {
      if (const graph::Binding* mine = find(graph_.outputs, output.name)) {
        compare("output", *mine, output.name, recipe.outputs, recipe);
      } else {
        fault("", "output " + output.name,
              fmt::format("training reads it ({}), the graph does not give it",
                          type_of(recipe, output)));
      }
    }
  }

  /// A binding of the graph against the recipe's of that name.
  void compare(const char* kind, const graph::Binding& mine, const std::string& name,
               const std::vector<graph::Binding>& known, const Graph& recipe) {
    const graph::Binding* other = find(known, name);
    if (!other) {
      fault(kind, mine.name, "the recipe's step has none of that name", true);
    } else if (type_of(graph_, mine) != type_of(recipe, *other)) {
      fault(kind, mine.name,
            fmt::format("the graph says {}, the recipe {}; valid: {}", type_of(graph_, mine),
                        type_of(recipe, *other), type_of(recipe, *other)),
            true);
    }
  }

  static const graph::Binding* find(const std::vector<graph::Binding>& bindings,
                                    const std::string& name) {
    const auto found = std::find_if(bindings.begin(), bindings.end(),
                                    [&](const auto& each) { return each.name == name; });
    return found == bindings.end() ? nullptr : &*found;
  }
  static std::string type_of(const Graph& graph, const graph::Binding& binding) {
    return graph::type_text(graph.values[binding.value]);
  }
  static std::vector<std::string> names_of(const std::map<std::string, int64_t>& groups) {
    std::vector<std::string> names;
    for (const auto& [name, ranks] : groups) names.push_back(name);
    return names;
  }

  /// At the first line that begins with `start` (with `named`: and ends with the key's name).
  void fault(const std::string& start, const std::string& key, const std::string& what,
             bool named = false) {
    std::istringstream lines{std::string(text_)};
    int number = 0;
    std::string place;
    for (std::string line; !start.empty() && place.empty() && std::getline(lines, line);) {
      ++number;
      const bool found =
          start.front() == '"' ? line.find(start) != std::string::npos : line.starts_with(start);
      if (found && (!named || line.ends_with(" " + key))) place = fmt::format(":{}", number);
    }
    faults_.push_back(
        fmt::format("{}{}: {}{}: {}", path_, place, named ? start + " " : "", key, what));
  }

  Result<> done() const {
    if (faults_.empty()) return {};
    return fail("{}", fmt::join(faults_, "\n"));
  }

  const std::string& path_;
  std::string_view text_;
  const Graph& graph_;
  const recipe::Recipe& recipe_;
  std::string after_;
  std::vector<std::string> faults_;
};

}  // namespace

std::map<std::string, std::string> made_from(const recipe::Recipe& recipe) {
  std::map<std::string, std::string> all;
  for (auto& [key, value] : recipe::flatten(recipe)) all.emplace(key, std::move(value));
  std::map<std::string, std::string> notes;
  for (const recipe::KeyInfo& source : sources())
    if (const auto value = all.find(source.key); value != all.end()) notes.insert(*value);
  // Left open it is the step, unless a memory limit forces each micro-batch.
  if (recipe.wrapping.reduce_each == recipe::ReduceEach::automatic)
    notes["wrapping.reduce_each"] = "\"step\"";
  return notes;
}

std::string captured_from(const recipe::Recipe& recipe) {
  const auto notes = made_from(recipe);
  std::string text;
  for (const recipe::KeyInfo& source : sources())
    if (const auto note = notes.find(source.key); source.graph == kCapture && note != notes.end())
      text += fmt::format("{} = {}\n", source.key, note->second);
  return text;
}

std::string last_pass_of(const graph::Graph& graph) {
  const auto note = graph.notes.find(kAfter);
  return note == graph.notes.end() ? kCapture : note->second;
}

Result<graph::Graph> read_graph_file(const std::string& path, const recipe::Recipe& recipe) {
  const auto text = read_file(path, kMaxGraphBytes);
  if (!text) return fail(text);
  auto graph = graph::parse_text(*text, path);
  if (!graph) return graph;
  if (const auto fits = Check(path, *text, *graph, recipe).run(); !fits) return fail(fits);
  return graph;
}

}  // namespace heddle::step
