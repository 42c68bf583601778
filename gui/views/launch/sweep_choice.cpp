#include "gui/views/launch/sweep_choice.h"

#include <QCoreApplication>
#include <QStringList>
#include <algorithm>
#include <limits>

#include "engine/recipe/parse.h"
#include "gui/format.h"
#include "workbench/halving.h"

namespace heddle::gui {
namespace {

QString sweepText(const char* text) { return QCoreApplication::translate("Sweep", text); }

recipe::Parsed parsedWith(const SweptRecipe& recipe, const workbench::SweepRun& run) {
  std::vector<std::string> sets;
  if (recipe.ranks > 0) sets.push_back("hardware.ranks=" + std::to_string(recipe.ranks));
  sets.insert(sets.end(), run.sets.begin(), run.sets.end());
  recipe::Parsed parsed = recipe::parse(recipe.text.toStdString(), recipe.file.toStdString(), sets);
  return parsed.ok() ? recipe::resolve(parsed) : parsed;
}

}  // namespace

Result<std::vector<workbench::SweepRun>> runsOf(const SweepChoice& choice,
                                                const SweptRecipe& recipe) {
  std::vector<std::string> sets;
  for (const SweepChoice::Key& each : choice.keys) {
    if (each.key.trimmed().isEmpty()) continue;
    if (each.values.trimmed().isEmpty())
      return fail("{}: values are missing", each.key.trimmed().toStdString());
    sets.push_back((each.key.trimmed() + QLatin1Char('=') + each.values.trimmed()).toStdString());
  }
  if (sets.empty()) return fail("{}", sweepText("Choose a key and its values.").toStdString());
  const std::string how =
      choice.random ? fmt::format("random:{}:{}", choice.picks, choice.seed) : "grid";
  const Result<workbench::Sweep> sweep = workbench::read_sweep(sets, how);
  if (!sweep) return fail(sweep);
  auto runs = workbench::expand(*sweep);
  if (!runs) return fail(runs);
  for (const workbench::SweepRun& run : *runs) {
    const recipe::Parsed parsed = parsedWith(recipe, run);
    if (parsed.ok()) continue;
    // Faults of the recipe's own lines are shown on the page.
    const auto own = std::ranges::find(parsed.faults, "--set", &recipe::Fault::file);
    const recipe::Fault& fault = own == parsed.faults.end() ? parsed.faults.front() : *own;
    std::string text = fault.str();
    if (text.starts_with("--set: ")) text.erase(0, 7);
    return fail("{}", text);
  }
  return runs;
}

Result<storage::Halving> halvingOf(const SweepChoice& choice, const SweptRecipe& recipe,
                                   const std::vector<workbench::SweepRun>& runs) {
  if (choice.metric.isEmpty()) return storage::Halving{};
  int64_t fewest = std::numeric_limits<int64_t>::max();
  for (const workbench::SweepRun& run : runs) fewest = std::min(fewest, stepsOf(recipe, run));
  return workbench::plan_halving({.metric = choice.metric.toStdString(), .keep = choice.keep},
                                 static_cast<int64_t>(runs.size()), fewest);
}

int64_t stepsOf(const SweptRecipe& recipe, const workbench::SweepRun& run) {
  return parsedWith(recipe, run).recipe.training.steps;
}

QString wordsOf(const SweepChoice& choice, size_t runs) {
  QStringList keys;
  for (const SweepChoice::Key& each : choice.keys)
    if (!each.key.trimmed().isEmpty())
      keys << each.key.trimmed().section(QLatin1Char('.'), -1) + QLatin1Char(' ') +
                  each.values.trimmed();
  return QStringLiteral("%1: %2").arg(format::plural(static_cast<qint64>(runs), counted::kRun),
                                      keys.join(QStringLiteral("; ")));
}

}  // namespace heddle::gui
