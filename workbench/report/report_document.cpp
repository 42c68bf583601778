#include "workbench/report/report_document.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "engine/telemetry/metrics.h"
#include "storage/difference.h"
#include "storage/value_text.h"
#include "workbench/commands/format.h"
#include "workbench/report/curve_picture.h"
#include "workbench/report/memory_picture.h"
#include "workbench/report/run_look.h"
#include "workbench/report/timeline_picture.h"

namespace heddle::workbench {
namespace {

constexpr size_t kMaxRunColumns = 8;  // of more runs each is a row
constexpr const char* kAbsentValue = "–";

std::string run_title(const Report& report, size_t run) {
  return run_number(run) + "  " + report.comparison.runs[run].name;
}

std::string joined_words(const std::vector<std::string>& words) {
  return fmt::format("{}", fmt::join(words, ", "));
}

ReportSection runs_section(const Report& report) {
  ReportSection section{.title = "Runs"};
  const auto& runs = report.comparison.runs;
  const bool tags = std::ranges::any_of(runs, [](const auto& run) { return !run.tags.empty(); });
  const bool notes = std::ranges::any_of(runs, [](const auto& run) { return !run.notes.empty(); });
  section.table.of_words = true;
  section.table.heads = {"", "name", "state", "recipe", "target", "steps", "begun"};
  if (tags) section.table.heads.emplace_back("tags");
  if (notes) section.table.heads.emplace_back("notes");
  if (!report.groups.empty()) section.table.heads.emplace_back("group");
  for (size_t i = 0; i < runs.size(); ++i) {
    const storage::RunSummary& run = runs[i];
    std::string state = storage::to_string(run.state);
    if (!run.cause.empty()) state += ": " + run.cause;
    auto& row = section.table.rows.emplace_back(std::vector<ReportCell>{
        {run_number(i)},
        {run.name + (i == report.baseline && runs.size() > 1 ? " (baseline)" : "")},
        {state},
        {run.recipe_name},
        {run.target},
        {count_text(static_cast<double>(run.steps))},
        {time_text(run.started.value_or(run.created))}});
    if (tags) row.push_back({joined_words(run.tags)});
    if (notes) row.push_back({run.notes});
    if (!report.groups.empty()) row.push_back({i < report.groups.size() ? report.groups[i] : ""});
  }
  return section;
}

/// Which of the values are best; none where all are the same.
std::vector<bool> best_values(const storage::Compared& row) {
  std::vector<bool> best(row.values.size(), false);
  const int direction = static_cast<int>(telemetry::metric(row.key).better);
  std::optional<double> found;
  const auto size_of = [&](size_t run) -> std::optional<double> {
    const auto number = row.values[run] ? storage::number_of(*row.values[run]) : std::nullopt;
    if (!number || !std::isfinite(*number)) return std::nullopt;
    return *number * direction;
  };
  if (direction == 0 || !row.differs()) return best;
  for (size_t run = 0; run < best.size(); ++run)
    if (const auto size = size_of(run)) found = std::max(found.value_or(*size), *size);
  for (size_t run = 0; run < best.size(); ++run) best[run] = found && size_of(run) == found;
  return best;
}

std::vector<ReportCell> value_cells(const storage::Compared& row, size_t baseline, bool result) {
  std::vector<ReportCell> cells;
  const std::vector<std::string> texts = storage::value_texts(row.key, row.values, kAbsentValue);
  const std::vector<bool> best = result ? best_values(row) : std::vector<bool>(texts.size(), false);
  for (size_t run = 0; run < texts.size(); ++run) {
    ReportCell cell{.text = texts[run], .best = best[run]};
    const auto change = result && run != baseline
                            ? storage::difference_of(row.key, row.values[baseline], row.values[run])
                            : std::nullopt;
    if (change && change->amount != 0) {
      cell.change = storage::difference_text(row.key, *change);
      cell.better = change->better;
    }
    cells.push_back(std::move(cell));
  }
  return cells;
}

ReportSection differences_section(const Report& report) {
  const storage::Comparison& all = report.comparison;
  ReportSection section{.title = "What differs"};
  ReportTable& table = section.table;
  table.heads = {""};
  for (size_t run = 0; run < all.runs.size(); ++run) table.heads.push_back(run_title(report, run));
  const auto add = [&](const std::vector<storage::Compared>& rows, bool result) {
    for (const storage::Compared& row : rows) {
      if (!row.differs()) continue;
      std::vector<ReportCell> cells = value_cells(row, report.baseline, result);
      cells.insert(cells.begin(), {result ? telemetry::words_of(row.key) : row.key});
      table.rows.push_back(std::move(cells));
    }
  };
  add(all.recipe, false);
  add(all.environment, false);
  std::vector<storage::Compared> results = all.results;
  std::ranges::stable_sort(results, {},
                           [](const auto& row) { return telemetry::order_of(row.key); });
  add(results, true);
  if (table.empty())
    section.words.push_back("These runs do not differ in anything that was recorded.");
  else
    section.words.push_back(
        fmt::format("Keys that are the same in every run are left out. Changes are from {}.",
                    run_title(report, report.baseline)));
  if (all.runs.size() <= kMaxRunColumns) return section;
  ReportTable turned;
  turned.heads = {"run"};
  for (const auto& row : table.rows) turned.heads.push_back(row.front().text);
  for (size_t run = 0; run < all.runs.size(); ++run) {
    std::vector<ReportCell> cells = {{run_title(report, run)}};
    for (const auto& row : table.rows) cells.push_back(row[run + 1]);
    turned.rows.push_back(std::move(cells));
  }
  section.table = std::move(turned);
  return section;
}

ReportSection curves_section(const Report& report) {
  ReportSection section{.title = "Curves"};
  for (const ReportChart& chart : report.charts) {
    std::string title = telemetry::words_of(chart.of.metric);
    if (!chart.of.x.empty()) title += " over " + telemetry::words_of(chart.of.x);
    if (chart.of.smoothing > 0)
      title += fmt::format(", smoothed (half-life in steps: {:g})", chart.of.smoothing);
    if (chart.of.difference) title += ", difference from " + run_title(report, report.baseline);
    section.pictures.push_back({std::move(title), curve_picture(report, chart)});
  }
  section.words.push_back("The number at the end of a curve is its run's.");
  if (!report.groups.empty())
    section.words.push_back("A group is its mean between its lowest and its highest run.");
  if (!report.colored_by.empty())
    section.words.push_back(fmt::format("Colours are by {}.", report.colored_by));
  return section;
}

ReportCell time_cell(int64_t us) {
  return {us == 0 ? "0" : seconds_text(static_cast<double>(us) * 1e-6)};
}

/// Less time is better where `judged`.
ReportCell time_cell(int64_t us, int64_t baseline, bool judged) {
  ReportCell cell = time_cell(us);
  const int64_t change = us - baseline;
  if (change == 0) return cell;
  cell.change =
      (change < 0 ? "−" : "+") + seconds_text(static_cast<double>(std::abs(change)) * 1e-6);
  if (judged) cell.better = change < 0 ? 1 : -1;
  return cell;
}

ReportSection memory_section(const Report& report) {
  ReportSection section{.title = "Memory"};
  section.words.push_back(
      "Peak of the rank that holds most. Measured memory counts as planned where the plan decides "
      "it; the rest is in other.");
  section.table.heads = {"run", "", "total"};
  for (const char* category : plan::kCategoryNames) section.table.heads.emplace_back(category);
  for (size_t run = 0; run < report.memory.size(); ++run)
    for (const auto& [kind, memory] : {std::pair{"predicted", &report.memory[run].predicted},
                                       std::pair{"measured", &report.memory[run].measured}}) {
      if (!*memory) continue;
      std::vector<ReportCell> cells = {
          {run_title(report, run)}, {kind}, {bytes_text(static_cast<double>((*memory)->total()))}};
      for (const int64_t bytes : (*memory)->bytes)
        cells.push_back({bytes == 0 ? kAbsentValue : bytes_text(static_cast<double>(bytes))});
      section.table.rows.push_back(std::move(cells));
    }
  if (auto picture = memory_picture(report))
    section.pictures.push_back({"peak memory by use", std::move(*picture)});
  return section;
}

ReportSection steps_section(const Report& report) {
  ReportSection section{.title = "Where a step's time went"};
  section.words.push_back(fmt::format(
      "Rank {} of each run's profiled step. Exposed: compute waits for a transfer, or for other "
      "ranks to reach one. Compute, exposed, bubble and idle add up to the step.",
      report.rank));
  section.table.heads = {"run", "step", "took", "compute", "exposed", "pipeline bubble", "idle"};
  const auto baseline = std::ranges::find(report.steps, report.baseline, &ReportStep::run);
  for (const ReportStep& step : report.steps) {
    std::vector<ReportCell> cells = {{run_title(report, step.run)},
                                     {count_text(static_cast<double>(step.step))}};
    const bool compares = baseline != report.steps.end() && step.run != report.baseline;
    const auto add = [&](int64_t us, int64_t from, bool judged) {
      cells.push_back(compares ? time_cell(us, from, judged) : time_cell(us));
    };
    add(step.spent.total(), compares ? baseline->spent.total() : 0, true);
    for (const Part part : {Part::compute, Part::exposed, Part::bubble, Part::idle})
      add(step.spent[part], compares ? baseline->spent[part] : 0, part != Part::compute);
    section.table.rows.push_back(std::move(cells));
  }
  if (auto picture = timeline_picture(report))
    section.pictures.push_back({"timelines", std::move(*picture)});
  return section;
}

ReportSection alignment_section(const Report& report, const ReportAlignment& alignment) {
  ReportSection section{.title = fmt::format("Where the steps of {} and {} differ",
                                             run_title(report, alignment.left),
                                             run_title(report, alignment.right))};
  for (const Surprise& surprise : alignment.surprises) section.words.push_back(surprise.words);
  section.table.heads = {"", run_title(report, alignment.left), run_title(report, alignment.right),
                         "difference", "exposed, difference"};
  for (const auto& [kind, rows] :
       {std::pair{"bucket", &alignment.buckets}, std::pair{"module", &alignment.modules}})
    for (const Row& row : *rows) {
      const int64_t exposed = row.right[Part::exposed] - row.left[Part::exposed];
      ReportCell change = time_cell(row.difference(), 0, true);
      ReportCell waits = time_cell(exposed, 0, true);
      change.text.clear();
      waits.text.clear();
      section.table.rows.push_back({{fmt::format("{}: {}", kind, row.name)},
                                    time_cell(row.left.total()),
                                    time_cell(row.right.total()),
                                    std::move(change),
                                    std::move(waits)});
    }
  return section;
}

}  // namespace

std::string title_of(const Report& report) {
  const auto& runs = report.comparison.runs;
  if (runs.size() == 1) return runs.front().name;
  if (runs.size() == 2) return runs[0].name + " and " + runs[1].name;
  return fmt::format("{} and {} more runs", runs.front().name, runs.size() - 1);
}

std::vector<ReportSection> sections_of(const Report& report) {
  std::vector<ReportSection> sections = {runs_section(report)};
  if (report.comparison.runs.size() > 1) sections.push_back(differences_section(report));
  if (!report.charts.empty()) sections.push_back(curves_section(report));
  if (ReportSection memory = memory_section(report); !memory.table.empty())
    sections.push_back(std::move(memory));
  if (!report.steps.empty()) sections.push_back(steps_section(report));
  for (const ReportAlignment& alignment : report.alignments)
    sections.push_back(alignment_section(report, alignment));
  return sections;
}

}  // namespace heddle::workbench
