#include "gui/views/compose/bucket_list.h"

#include <QObject>
#include <QStringList>
#include <algorithm>
#include <map>
#include <utility>

#include "engine/holdings/rank_share.h"
#include "engine/recipe/modules.h"

namespace heddle::gui {

using recipe::Model;
using recipe::WrappingMode;

QString outerName(const Model& model, int module) {
  if (module == 0) return QStringLiteral("tok_embeddings");
  if (module <= model.n_layers) return QStringLiteral("layers.%1").arg(module - 1);
  return module == model.n_layers + 1 ? QStringLiteral("norm") : QStringLiteral("output");
}

namespace {

int outerOf(const Model& model, const std::string& module) {
  if (module == "tok_embeddings") return 0;
  if (module.starts_with("layers.")) return std::stoi(module.substr(7)) + 1;
  return static_cast<int>(model.n_layers) + (module == "norm" ? 1 : 2);
}

/// The names of a run of outer modules; `dash` joins the ends of a run of layers.
QStringList runNames(const Model& model, int first, int last, const QString& layers, QChar dash) {
  QStringList names;
  const int lastLayer = static_cast<int>(model.n_layers);
  if (first == 0) names << outerName(model, 0);
  const int from = std::max(first, 1);
  const int to = std::min(last, lastLayer);
  if (from == to) names << layers + QString::number(from - 1);
  if (from < to) names << layers + QString::number(from - 1) + dash + QString::number(to - 1);
  for (int module = std::max(first, lastLayer + 1); module <= last; ++module)
    names << outerName(model, module);
  return names;
}

/// How many parameters are read before each outer module, and in all.
std::vector<size_t> readsBefore(const Model& model) {
  std::vector<size_t> before(static_cast<size_t>(outerModules(model)) + 1, 0);
  for (const recipe::Parameter& parameter : recipe::reads(model))
    ++before[static_cast<size_t>(outerOf(model, parameter.module)) + 1];
  for (size_t i = 1; i < before.size(); ++i) before[i] += before[i - 1];
  return before;
}

/// How many modules with parameters of their own there are before each outer module, and in all.
std::vector<size_t> leavesBefore(const Model& model) {
  std::vector<size_t> before(static_cast<size_t>(outerModules(model)) + 1, 0);
  std::string last;
  for (const recipe::Parameter& parameter : recipe::parameters(model))
    if (std::exchange(last, parameter.module) != parameter.module)
      ++before[static_cast<size_t>(outerOf(model, parameter.module)) + 1];
  for (size_t i = 1; i < before.size(); ++i) before[i] += before[i - 1];
  return before;
}

/// How many such modules are under the names of a plan's bucket, "layers.0" or
/// "layers.0.attention.wq".
size_t leavesOf(const Model& model, const Bucket& bucket, const std::vector<size_t>& before) {
  size_t leaves = 0;
  for (const std::string& name : bucket.modules) {
    const int outer = outerOf(model, name);
    const auto at = static_cast<size_t>(outer);
    leaves += name == outerName(model, outer).toStdString() ? before[at + 1] - before[at] : 1;
  }
  return leaves;
}

/// Whether it has all that its outer modules read.
bool isRun(const recipe::Bucket& bucket, const std::vector<size_t>& before, int first, int last) {
  return before[static_cast<size_t>(last) + 1] - before[static_cast<size_t>(first)] ==
         bucket.parameters.size();
}

}  // namespace

QString runTitle(const Model& model, int first, int last) {
  QString layers = QStringLiteral("layer ");
  if (std::max(first, 1) < std::min<int>(last, static_cast<int>(model.n_layers)))
    layers = "layers ";
  return runNames(model, first, last, layers, QChar(0x2013)).join(QStringLiteral(" · "));
}

int outerModules(const Model& model) { return static_cast<int>(model.n_layers) + 3; }

qint64 Bucket::mostGathered() const {
  return gathered.isEmpty() ? 0 : *std::ranges::max_element(gathered);
}

bool BucketList::isTimed() const {
  return std::ranges::any_of(buckets, [](const Bucket& each) { return each.gatherSeconds > 0; });
}

QString groupingWords(WrappingMode mode, const BucketList& list) {
  switch (mode) {
    case WrappingMode::automatic:
      if (!list.known)
        return list.hasEdges()
                   ? QObject::tr("The plan will group these; drag an edge to group them manually.")
                   : QObject::tr("The plan will make the buckets.");
      if (list.buckets.isEmpty()) return QObject::tr("The plan has no buckets.");
      if (list.hasEdges())
        return QObject::tr("The plan groups these; drag an edge to group them manually.");
      return list.movable ? QObject::tr("The plan makes one bucket of all; double-click splits it.")
                          : QObject::tr(
                                "The plan groups these, not in whole layers: to drag edges, "
                                "choose layers or manual first.");
    case WrappingMode::layers:
      return QObject::tr("A bucket a layer.");
    case WrappingMode::manual:
      if (list.hasEdges())
        return QObject::tr(
            "Drag an edge to move layers from a bucket to the next. Double-click a "
            "bucket to split it, an edge to join two.");
      return list.movable
                 ? QObject::tr("One bucket holds all; double-click splits it.")
                 : QObject::tr(
                       "These buckets are not runs of whole layers: change them in the text.");
    case WrappingMode::none:
      break;
  }
  return QObject::tr("Each parameter is gathered by itself.");
}

BucketList bucketsOf(const recipe::Recipe& recipe, bool sound) {
  const Model& model = recipe.model;
  const std::vector<size_t> before = readsBefore(model);
  const WrappingMode mode = recipe.wrapping.mode;
  BucketList list;
  list.known = mode != WrappingMode::automatic;
  list.movable = model.n_layers > 0;
  if (!list.movable) return list;
  int next = 0;
  const recipe::Layout layout = sound ? recipe::Layout(recipe) : recipe::Layout();
  for (const recipe::Bucket& each : recipe::buckets_of(recipe)) {
    Bucket bucket;
    bucket.modules = each.modules;
    const bool counted =  // except modules with the vocabulary's rows while its size is unknown
        std::ranges::all_of(each.parameters, [](const auto& p) { return p.elements() > 0; });
    for (const recipe::Parameter& parameter : each.parameters)
      bucket.elements += counted ? parameter.elements() : 0;
    QStringList names;
    for (const std::string& name : each.names) names << QString::fromStdString(name);
    bucket.name = names.join(QStringLiteral(" · "));
    bool run = false;
    if (!each.parameters.empty()) {
      bucket.first = outerOf(model, each.parameters.front().module);
      bucket.last = outerOf(model, each.parameters.back().module);
      run = isRun(each, before, bucket.first, bucket.last);
      if (run) bucket.name = runTitle(model, bucket.first, bucket.last);
    }
    list.movable = list.movable && run && bucket.first == next;
    next = bucket.last + 1;
    if (sound)
      for (const int64_t bytes : holdings::gathered_bytes(recipe, layout, each))
        bucket.gathered << bytes;
    if (bucket.mostGathered() == 0) bucket.gathered.clear();
    list.buckets << bucket;
  }
  list.movable = list.movable && next == outerModules(model);
  return list;
}

void addPredicted(BucketList& list, const plan::Document& document, const Model& model) {
  if (!list.known) {
    list = {.known = true, .movable = list.movable, .buckets = {}};
    for (const plan::BucketFigures& figures : document.buckets) {
      if (figures.modules.empty()) continue;
      Bucket bucket;
      bucket.modules = figures.modules;
      bucket.first = outerOf(model, figures.modules.front());
      bucket.last = outerOf(model, figures.modules.back());
      bucket.name = QString::fromStdString(figures.name);
      if (figures.gather_bytes > 0) bucket.gathered << figures.gather_bytes;
      list.buckets << bucket;
    }
    // A pipeline's stages are planned one by one; a rank may have several, far apart.
    std::ranges::stable_sort(list.buckets, {}, &Bucket::first);
    const std::vector<size_t> before = leavesBefore(model);
    int next = 0;
    for (Bucket& bucket : list.buckets) {
      // Whole modules, and none left out.
      const size_t run =
          before[static_cast<size_t>(bucket.last) + 1] - before[static_cast<size_t>(bucket.first)];
      list.movable = list.movable && bucket.first == next && leavesOf(model, bucket, before) == run;
      if (list.movable) bucket.name = runTitle(model, bucket.first, bucket.last);
      next = bucket.last + 1;
    }
    list.movable = list.movable && next == outerModules(model);
  }
  // One that reaches over two pipeline stages is gathered in each of them.
  std::map<std::vector<std::string>, Bucket*> byModules;
  for (Bucket& bucket : list.buckets) byModules[bucket.modules] = &bucket;
  for (const plan::BucketFigures& figures : document.buckets) {
    const auto found = byModules.find(figures.modules);
    if (found == byModules.end()) continue;
    Bucket& bucket = *found->second;
    bucket.gatherSeconds = std::max(bucket.gatherSeconds, figures.gather_seconds);
    bucket.exposedSeconds += figures.exposed_seconds;
  }
}

QString bucketsToml(const Model& model, const QList<int>& firsts) {
  QString toml = QStringLiteral("[\n");
  for (int i = 0; i < firsts.size(); ++i) {
    const int last = i + 1 < firsts.size() ? firsts[i + 1] - 1 : outerModules(model) - 1;
    const QStringList names =
        runNames(model, firsts[i], last, QStringLiteral("layers."), QChar('-'));
    toml += QStringLiteral("  [\"%1\"],\n").arg(names.join(QStringLiteral("\", \"")));
  }
  return toml + QChar(']');
}

}  // namespace heddle::gui
