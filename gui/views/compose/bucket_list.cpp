#include "gui/views/compose/bucket_list.h"

#include <QStringList>
#include <algorithm>

#include "engine/recipe/modules.h"

namespace heddle::gui {
namespace {

using recipe::Model;
using recipe::Modules;
using recipe::Parameter;
using recipe::WrappingMode;

QString outerName(const Model& model, int module) {
  if (module == 0) return QStringLiteral("tok_embeddings");
  if (module <= model.n_layers) return QStringLiteral("layers.%1").arg(module - 1);
  return module == model.n_layers + 1 ? QStringLiteral("norm") : QStringLiteral("output");
}

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
  for (int module = std::max(first, lastLayer + 1); module <= last; ++module) {
    if (module == lastLayer + 2 && model.tied_embeddings) continue;
    names << outerName(model, module);
  }
  return names;
}

QString runTitle(const Model& model, int first, int last) {
  QString layers = QStringLiteral("layer ");
  if (std::max(first, 1) < std::min<int>(last, static_cast<int>(model.n_layers)))
    layers = "layers ";
  return runNames(model, first, last, layers, QChar(0x2013)).join(QStringLiteral(" · "));
}

/// Sums of elements: sums[m] is that of all outer modules before m.
std::vector<qint64> sumsOf(const Model& model) {
  std::vector<qint64> sums(static_cast<size_t>(outerModules(model)) + 1, 0);
  for (int module = 0; module < outerModules(model); ++module) {
    const qint64 embedding = model.vocab_size * model.dim;
    const qint64 elements = module == 0                    ? embedding
                            : module <= model.n_layers     ? recipe::layer_parameter_count(model)
                            : module == model.n_layers + 1 ? model.dim
                            : model.tied_embeddings        ? 0
                                                           : embedding;
    sums[static_cast<size_t>(module) + 1] = sums[static_cast<size_t>(module)] + elements;
  }
  return sums;
}

Bucket runOf(const Model& model, const std::vector<qint64>& sums, int first, int last) {
  return {runTitle(model, first, last),
          sums[static_cast<size_t>(last) + 1] - sums[static_cast<size_t>(first)], first, last};
}

Bucket namedBucket(const Model& model, const Modules& modules, const std::vector<qint64>& sums,
                   const std::vector<std::string>& names) {
  Bucket bucket;
  QStringList titles;
  std::vector<size_t> all;
  for (const std::string& name : names) {
    titles << QString::fromStdString(name);
    const auto under = modules.under(name);
    all.insert(all.end(), under.begin(), under.end());
  }
  std::ranges::sort(all);
  all.erase(std::unique(all.begin(), all.end()), all.end());
  bucket.name = titles.join(QStringLiteral(" · "));
  if (all.empty()) return bucket;
  const auto& parameters = modules.parameters();
  for (const size_t i : all) bucket.elements += parameters[i].elements();
  bucket.first = outerOf(model, parameters[all.front()].module);
  bucket.last = outerOf(model, parameters[all.back()].module);
  const Bucket run = runOf(model, sums, bucket.first, bucket.last);
  if (run.elements == bucket.elements) bucket.name = run.name;
  return bucket;
}

bool areRuns(const Model& model, const std::vector<qint64>& sums, const QList<Bucket>& buckets) {
  int next = 0;
  for (const Bucket& bucket : buckets) {
    const Bucket run = runOf(model, sums, bucket.first, bucket.last);
    if (bucket.first != next || run.elements != bucket.elements) return false;
    next = bucket.last + 1;
  }
  return next >= outerModules(model) - (model.tied_embeddings ? 1 : 0);
}

}  // namespace

int outerModules(const Model& model) { return static_cast<int>(model.n_layers) + 3; }

QList<int> layerFirsts(const Model& model) {
  QList<int> firsts;
  for (int module = 0; module <= model.n_layers + 1; ++module) firsts << module;
  return firsts;
}

BucketList bucketsOf(const recipe::Recipe& recipe) {
  BucketList list;
  const Model& model = recipe.model;
  const std::vector<qint64> sums = sumsOf(model);
  switch (recipe.wrapping.mode) {
    case WrappingMode::automatic:
    case WrappingMode::layers: {
      list.known = recipe.wrapping.mode == WrappingMode::layers;
      const QList<int> firsts = layerFirsts(model);
      for (const int first : firsts) {
        const int last = first == firsts.last() ? outerModules(model) - 1 : first;
        list.buckets << runOf(model, sums, first, last);
      }
      break;
    }
    case WrappingMode::manual: {
      const Modules modules(model);
      for (const auto& names : recipe.wrapping.buckets) {
        list.buckets << namedBucket(model, modules, sums, names);
      }
      list.movable = areRuns(model, sums, list.buckets);
      break;
    }
    case WrappingMode::none:
      for (const Parameter& parameter : recipe::parameters(model)) {
        const int outer = outerOf(model, parameter.module);
        list.buckets << Bucket{QString::fromStdString(parameter.module), parameter.elements(),
                               outer, outer};
      }
      break;
  }
  return list;
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
