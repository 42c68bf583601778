#include "gui/views/launch/launch_data.h"

#include <QCoreApplication>
#include <QDir>
#include <QFileInfo>
#include <algorithm>
#include <array>
#include <set>

#include "engine/checkpoint/load_recipe.h"
#include "engine/recipe/data_sources.h"
#include "engine/recipe/modules.h"
#include "gui/format.h"
#include "gui/models/text_file.h"
#include "workbench/continuation.h"
#include "workbench/import.h"
#include "workbench/paths.h"

namespace heddle::gui {
namespace {

constexpr size_t kRecent = 30;

QString tr(const char* text) { return QCoreApplication::translate("Launch", text); }

QString number(double value) { return QString::number(value, 'g', 4); }

QString modelText(const recipe::Recipe& r) {
  QString text =
      tr("%1, dim %2")
          .arg(format::plural(r.model.n_layers, counted::kLayer), format::count(r.model.dim));
  if (r.model.vocab_size > 0) {
    text += tr(", %1 parameters")
                .arg(format::shortCount(static_cast<double>(recipe::parameter_count(r.model))));
  }
  return r.model.preset.empty()
             ? text
             : QString::fromStdString(r.model.preset) + QStringLiteral(": ") + text;
}

QString dataText(const recipe::Recipe& r) {
  QStringList names;
  for (const recipe::DataSource& source : recipe::sources_of(r.data))
    names << QString::fromStdString(source.name);
  return tr("%1, sequence %2").arg(names.join(QStringLiteral(", ")), format::count(r.data.seq_len));
}

QString batchText(const recipe::Recipe& r) {
  QString text = tr("%1, batch %2 a rank")
                     .arg(format::plural(r.training.steps, counted::kStep))
                     .arg(r.training.local_batch);
  if (r.training.global_batch > 0)
    text += tr(", %1 in all").arg(format::count(r.training.global_batch));
  return text;
}

/// A few keys as the recipe's text has them.
QString valueOf(const std::vector<std::pair<std::string, std::string>>& values, const char* key) {
  for (const auto& [name, value] : values) {
    if (name == key) return QString::fromStdString(value).remove(QLatin1Char('"'));
  }
  return {};
}

using FlatValues = std::vector<std::pair<std::string, std::string>>;

/// "recompute full in layers.0-15", "lr 1e-4 in norms".
QStringList exceptionTexts(const recipe::Recipe& r) {
  static constexpr std::array kModes = {"none", "full", "selective", "budget"};
  QStringList texts;
  for (const recipe::Override& each : r.overrides) {
    QStringList modules, changes;
    for (const std::string& module : each.modules) modules << QString::fromStdString(module);
    if (each.recompute)
      changes
          << tr("recompute %1").arg(QLatin1String(kModes[static_cast<size_t>(*each.recompute)]));
    if (each.lr) changes << tr("learning rate %1").arg(number(*each.lr));
    if (each.weight_decay) changes << tr("weight decay %1").arg(number(*each.weight_decay));
    texts << tr("%1 in %2")
                 .arg(changes.join(QStringLiteral(", ")), modules.join(QStringLiteral(", ")));
  }
  return texts;
}

/// Every other key that differs from its default: nothing that changes the run goes unsaid.
QString othersText(const recipe::Parsed& resolved, const FlatValues& values) {
  static const std::set<std::string> kShown = {
      "data.text",      "data.mix",         "data.token_ids",        "data.seq_len",
      "training.steps", "precision.param",  "precision.reduce",      "training.local_batch",
      "wrapping.mode",  "recompute.mode",   "training.global_batch", "optimizer.name",
      "optimizer.lr",   "precision.float8", "data.tokenizer",        "hardware.ranks",
      "override"};
  static const std::vector<std::string> kDegrees = recipe::keys_along(recipe::kWorld);
  QStringList texts = exceptionTexts(resolved.recipe);
  for (const auto& [key, value] : values) {
    if (kShown.contains(key) || std::ranges::find(kDegrees, key) != kDegrees.end()) continue;
    const recipe::KeyInfo* info = recipe::find_key(key);
    if (info == nullptr || value == info->fallback) continue;
    if (!resolved.places.contains(key)) continue;  // follows from other keys
    // The preset's or the checkpoint's numbers are the model's, which its own row names.
    if (key.starts_with("model.") && key != "model.checkpoint") continue;
    const bool path = !info->files.empty();
    QString text = QString::fromStdString(value).remove(QLatin1Char('"'));
    if (path) text = QFileInfo(text).fileName();
    texts << QStringLiteral("%1 %2").arg(QString::fromStdString(key), text);
  }
  return texts.join(QStringLiteral("; "));
}

QString precisionText(const FlatValues& values) {
  const QString float8 = valueOf(values, "precision.float8");
  QString text = valueOf(values, "precision.param");
  if (float8 != QLatin1String("none")) text += tr(", linear layers in 8 bits (%1)").arg(float8);
  return tr("%1, gradients reduced in %2").arg(text, valueOf(values, "precision.reduce"));
}

QVector<QPair<QString, QString>> factsOf(const recipe::Parsed& resolved) {
  const recipe::Recipe& r = resolved.recipe;
  const FlatValues values = recipe::flatten(r);
  QVector<QPair<QString, QString>> facts = {
      {tr("model"), modelText(r)},
      {tr("data"), dataText(r)},
      {tr("training"), batchText(r)},
      {tr("parallelism"), QString::fromStdString(recipe::degrees_text(r.parallelism))},
      {tr("wrapping"),
       tr("%1, recompute %2")
           .arg(valueOf(values, "wrapping.mode"), valueOf(values, "recompute.mode"))},
      {tr("precision"), precisionText(values)},
      {tr("optimizer"),
       tr("%1, learning rate %2")
           .arg(QString::fromStdString(r.optimizer.name), number(r.optimizer.lr))}};
  if (const QString others = othersText(resolved, values); !others.isEmpty())
    facts.append({tr("also"), others});
  return facts;
}

}  // namespace

std::vector<RecipeChoice> sampleRecipes() {
  const QDir folder(QString::fromStdString(workbench::samples_folder()));
  std::vector<RecipeChoice> here;
  std::vector<RecipeChoice> elsewhere;
  for (const QFileInfo& info :
       folder.entryInfoList({QStringLiteral("*.toml")}, QDir::Files, QDir::Name)) {
    const auto text = readText(info.filePath());
    if (!text) continue;
    RecipeChoice choice{info.completeBaseName(), *text, info.filePath()};
    const auto parsed = recipe::parse(choice.toml.toStdString(), choice.file.toStdString());
    auto& list = parsed.recipe.hardware.name == "this-machine" ? here : elsewhere;
    list.push_back(std::move(choice));
  }
  here.insert(here.end(), elsewhere.begin(), elsewhere.end());
  return here;
}

QString fileName(const RecipeChoice& choice) {
  const QString name = choice.file.isEmpty() ? choice.name : QFileInfo(choice.file).fileName();
  return name.isEmpty() ? tr("recipe") : name;
}

QString namedFile(const RecipeChoice& choice) {
  return choice.file.isEmpty() ? choice.name + QStringLiteral(".toml") : choice.file;
}

QString runName(const RecipeChoice& choice) {
  const QFileInfo file(choice.file.isEmpty() ? choice.name : choice.file);
  // ".toml" has nothing before its ending.
  const QString name = file.completeBaseName().isEmpty() ? file.suffix() : file.completeBaseName();
  return name.isEmpty() ? tr("run") : name;
}

RecipeCheck checkRecipe(const RecipeChoice& choice, int64_t ranks,
                        const std::optional<workbench::TargetNow>& target, const QString& store) {
  std::vector<std::string> sets;
  if (ranks > 0) sets.push_back("hardware.ranks=" + std::to_string(ranks));
  const std::string file = namedFile(choice).toStdString();
  const recipe::Parsed resolved = checkpoint::load_recipe(choice.toml.toStdString(), file, sets);
  RecipeCheck check;
  check.file = QString::fromStdString(file);
  const Result<QString> saved = readText(choice.file);
  check.unsaved = !saved || *saved != choice.toml;
  check.ranks = resolved.recipe.hardware.ranks;
  check.facts = factsOf(resolved);
  check.faults = resolved.faults;
  if (check.faults.empty()) check.faults = recipe::unsupported(resolved);
  if (!check.faults.empty() || !target) return check;
  check.findings = workbench::preflight(resolved, *target);
  // A fork has a folder of its own, whatever its recipe names.
  if (forkOf(choice.name, choice.file)) return check;
  const auto folder = workbench::folder_fault(store.toStdString(), resolved, target->target);
  if (folder && *folder) check.faults.push_back(**folder);
  return check;
}

QString whyNotOn(const QString& target, const std::vector<workbench::Finding>& findings) {
  const auto fails = [](const workbench::Finding& finding) {
    return finding.status == probe::Status::fail;
  };
  const auto first = std::ranges::find_if(findings, fails);
  if (first == findings.end()) return {};
  QString what = QString::fromStdString(first->what);
  // A finding about the whole target: its name is on screen already.
  if (first->name != "target")
    what.prepend(QString::fromStdString(first->name) + QStringLiteral(": "));
  if (what.startsWith(target + QStringLiteral(": "))) what.remove(0, target.size() + 2);
  const QString why = tr("It cannot start on %1: %2").arg(target, what);
  const auto more = std::ranges::count_if(findings, fails) - 1;
  return more == 0 ? why : tr("%1; and %2").arg(why, format::plural(more, counted::kMoreFault));
}

QString faultLine(const RecipeCheck& check, const recipe::Fault& fault) {
  recipe::Fault shown = fault;
  if (shown.file == "--set") shown.file = tr("change").toStdString();  // of this page's fields
  if (check.unsaved && shown.file == check.file.toStdString())
    shown.file = tr("%1, unsaved").arg(QFileInfo(check.file).fileName()).toStdString();
  return QString::fromStdString(shown.str());
}

Result<workbench::LaunchRequest> forkRequest(storage::Reader& reader,
                                             const workbench::LaunchRequest& request,
                                             const ForkOf& fork) {
  const auto found = reader.find_run(fork.run.toStdString());
  if (!found) return fail(found);
  auto parent = reader.run(found->id);
  if (!parent) return fail(parent);
  if (request.target.name != found->target)
    return fail(
        "{} ran on {}, which has its checkpoints, and a fork of it continues there; choose "
        "that target",
        found->name, found->target);
  auto plan = workbench::plan_continuation(reader, {.kind = storage::Lineage::Kind::fork,
                                                    .parent = std::move(*parent),
                                                    .checkpoint = fork.checkpoint.toStdString(),
                                                    .sets = request.sets,
                                                    .recipe_text = request.recipe_text,
                                                    .name = request.name});
  if (!plan) return fail(plan);
  plan->launch.mode = request.mode;
  return std::move(plan->launch);
}

Result<LaunchOptions> readLaunchOptions(storage::Reader& reader) {
  auto targets = workbench::targets(reader);
  if (!targets) return fail(targets);
  auto runs = reader.runs();
  if (!runs) return fail(runs);
  LaunchOptions options;
  for (const storage::RunSummary& run : *runs)
    if (storage::is_going(run.state)) options.going.push_back(run);
  auto queue = reader.queue();
  if (!queue) return fail(queue);
  options.queue = std::move(*queue);
  // Waiting runs are in the queue's own list.
  std::erase_if(*runs, [](const auto& run) {
    return run.target == workbench::kImported || run.state == storage::RunState::queued;
  });
  if (runs->size() > kRecent) runs->resize(kRecent);
  const auto lost = lostTargets(reader);
  if (!lost) return fail(lost);
  auto contacts = readContacts(reader);
  if (!contacts) return fail(contacts);
  options.recent = std::move(*runs);
  options.contacts = std::move(*contacts);
  for (workbench::SavedTarget& saved : *targets) {
    TargetEntry entry;
    entry.target = std::move(saved.target);
    entry.report = std::move(saved.probe);
    if (const auto why = lost->find(entry.target.name); why != lost->end())
      entry.lost = QString::fromStdString(why->second);
    options.targets.push_back(std::move(entry));
  }
  return options;
}

QString describeReport(const probe::Report& report) {
  QStringList parts;
  if (!report.gpus.empty()) {
    parts << QStringLiteral("%1 × %2")
                 .arg(report.gpus.size())
                 .arg(QString::fromStdString(report.gpus.front().name));
  }
  const auto load = std::ranges::find(report.checks, "load", &probe::Check::name);
  parts << (load == report.checks.end() ? format::plural(report.cores, counted::kCore)
                                        : QString::fromStdString(load->value))
        << tr("%1 RAM").arg(format::bytes(static_cast<double>(report.memory_bytes)))
        << tr("%1 disk free").arg(format::bytes(static_cast<double>(report.free_disk_bytes)));
  return parts.join(QStringLiteral(", "));
}

}  // namespace heddle::gui
