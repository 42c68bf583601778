#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "engine/recipe/modules.h"
#include "engine/recipe/nearest.h"
#include "engine/recipe/parameter_kinds.h"
#include "engine/recipe/resolve.h"
#include "engine/recipe/values.h"

namespace heddle::recipe {
namespace {

const std::string kValidNames =
    "tok_embeddings, layers.N, layers.A-B, layers.N.attention, layers.N.feed_forward.w1 …, norm, "
    "output";

void check_name(const Modules& modules, const Model& model, const std::string& name,
                const std::string& place, const std::string& key, Checks& checks) {
  if (modules.contains(name)) return;
  // Suggest with the layer that was written: "layers.3.atention" is near "layers.3.attention".
  std::vector<std::string> candidates = modules.sample_names();
  if (const auto in = in_layers(name); in && !in->layer.empty()) {
    const auto from = static_cast<size_t>(in->layer.data() - name.data());
    if (!modules.contains(name.substr(0, from + in->layer.size()))) {
      checks.fault_at(place, key, fmt::format("\"{}\" matches no module", name),
                      fmt::format("layers.0 to layers.{}", model.n_layers - 1));
      return;
    }
    for (std::string& candidate : candidates) {
      if (candidate.starts_with(layer_name(0))) candidate.replace(from, 1, in->layer);
    }
  }
  checks.fault_at(place, key, fmt::format("\"{}\" matches no module", name), kValidNames,
                  nearest(name, candidates));
}

/// Whether a name of [[override]] is of parameters, not of a module; reports its faults.
bool names_parameters(const Modules& modules, const std::string& name, const Override& exception,
                      const std::string& place, Checks& checks) {
  const bool is_kind = std::ranges::find(parameter_kinds(), name) != parameter_kinds().end();
  if (!is_kind && !is_parameter(name)) return false;
  if (exception.recompute) {
    checks.fault_at(place, "override",
                    fmt::format("{} is no module, and recompute is of modules", name),
                    "names of modules, or lr and weight_decay");
  } else if (!is_kind) {
    std::vector<std::string> wanted = expand_range(name);
    for (const Parameter& parameter : modules.parameters()) std::erase(wanted, parameter.name());
    if (!wanted.empty())
      checks.fault_at(place, "override", fmt::format("\"{}\" matches no parameter", name),
                      "a module's name with .weight, or with .bias where the model has one");
  }
  return true;
}

/// Names for a set of parameters that are as short as can be: whole layers as ranges.
std::vector<std::string> summary(const Modules& modules, const std::vector<bool>& chosen,
                                 int64_t layers) {
  const auto all_of = [&](const std::string& name) {
    const auto under = modules.under(name);
    return !under.empty() && std::ranges::all_of(under, [&](size_t i) { return chosen[i]; });
  };
  std::vector<std::string> names;
  if (all_of("tok_embeddings")) names.push_back("tok_embeddings");
  for (int64_t layer = 0; layer < layers; ++layer) {
    const std::string name = layer_name(layer);
    if (all_of(name)) {
      int64_t last = layer;
      while (last + 1 < layers && all_of(layer_name(last + 1))) ++last;
      names.push_back(last == layer ? name : fmt::format("layers.{}-{}", layer, last));
      layer = last;
      continue;
    }
    for (const char* part : {".attention_norm", ".attention", ".ffn_norm", ".feed_forward"}) {
      if (all_of(name + part)) {
        names.push_back(name + part);
        continue;
      }
      for (const size_t i : modules.under(name + part)) {
        const std::string& module = modules.parameters()[i].module;
        if (chosen[i] && (names.empty() || names.back() != module)) names.push_back(module);
      }
    }
  }
  for (const char* name : {"norm", "output"}) {
    if (all_of(name)) names.push_back(name);
  }
  return names;
}

void check_buckets(const Modules& modules, const Recipe& recipe, Checks& checks) {
  const auto& buckets = recipe.wrapping.buckets;
  constexpr size_t kNowhere = static_cast<size_t>(-1);
  std::vector<size_t> owner(modules.parameters().size(), kNowhere);
  for (size_t b = 0; b < buckets.size(); ++b) {
    for (size_t n = 0; n < buckets[b].size(); ++n) {
      const std::string place = fmt::format("wrapping.buckets[{}][{}]", b, n);
      const std::string& name = buckets[b][n];
      check_name(modules, recipe.model, name, place, "wrapping.buckets", checks);
      std::optional<size_t> other;
      std::string module;
      for (const size_t i : modules.under(name)) {
        if (owner[i] == kNowhere) {
          owner[i] = b;
        } else if (!other) {
          other = owner[i];
          module = modules.parameters()[i].module;
        }
      }
      if (other) {
        const std::string where =
            *other == b ? "this bucket already" : fmt::format("bucket {} already", *other + 1);
        checks.fault_at(place, "wrapping.buckets", fmt::format("{} is in {}", module, where),
                        "every parameter in one bucket");
      }
    }
  }
  std::vector<bool> left(owner.size());
  for (size_t i = 0; i < owner.size(); ++i) left[i] = owner[i] == kNowhere;
  if (const auto names = summary(modules, left, recipe.model.n_layers); !names.empty()) {
    checks.fault({"wrapping.buckets", "wrapping.mode"},
                 fmt::format("in no bucket: {}", joined(names, ", ")),
                 "every parameter in one bucket");
  }
}

}  // namespace

void check_names(const Parsed& parsed, Checks& checks) {
  const Recipe& recipe = parsed.recipe;
  const bool manual = recipe.wrapping.mode == WrappingMode::manual;
  if (!manual && !recipe.wrapping.buckets.empty() && checks.sound({"wrapping.mode"})) {
    checks.fault({"wrapping.buckets"}, "buckets are read in mode manual only",
                 "wrapping.mode = \"manual\", or no buckets");
  }
  const Model& m = recipe.model;
  const bool known = m.dim > 0 && m.n_layers > 0 && m.n_heads > 0 && m.ffn_dim > 0 &&
                     checks.sound({"model.n_layers"});
  const auto& left_out = recipe.precision.float8_except;
  const bool as_usual = left_out == Precisions().float8_except;
  if (!known || (!manual && recipe.overrides.empty() && as_usual)) return;
  const Modules modules(m);
  if (manual && checks.sound({"wrapping.buckets"})) check_buckets(modules, recipe, checks);
  for (size_t i = 0; i < recipe.overrides.size(); ++i) {
    const auto& names = recipe.overrides[i].modules;
    for (size_t n = 0; n < names.size(); ++n) {
      const std::string place = fmt::format("override[{}].modules[{}]", i, n);
      if (names_parameters(modules, names[n], recipe.overrides[i], place, checks)) continue;
      check_name(modules, m, names[n], place, "override", checks);
    }
  }
  for (size_t n = 0; n < left_out.size(); ++n)
    check_name(modules, m, left_out[n], fmt::format("precision.float8_except[{}]", n),
               "precision.float8_except", checks);
}

}  // namespace heddle::recipe
