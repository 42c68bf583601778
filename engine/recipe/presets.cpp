#include "engine/recipe/presets.h"

#include <algorithm>

namespace heddle::recipe {
namespace {

Model llama(std::string name, int64_t dim, int64_t layers, int64_t heads, int64_t kv_heads,
            int64_t ffn_dim) {
  Model model;
  model.preset = std::move(name);
  model.dim = dim;
  model.n_layers = layers;
  model.n_heads = heads;
  model.n_kv_heads = kv_heads;
  model.ffn_dim = ffn_dim;
  return model;
}

Model scaled(Model model, double factor, bool tied) {
  model.vocab_size = 128256;
  model.rope_scaling = RopeScaling{};
  model.rope_scaling->factor = factor;
  model.tied_embeddings = tied;
  return model;
}

const std::vector<Model>& presets() {
  static const std::vector<Model> all = {
      llama("llama3-debug", 256, 6, 16, 16, 768),
      scaled(llama("llama3-1b", 2048, 16, 32, 8, 8192), 32, true),
      scaled(llama("llama3-3b", 3072, 28, 24, 8, 8192), 32, true),
      scaled(llama("llama3-8b", 4096, 32, 32, 8, 14336), 8, false),
      scaled(llama("llama3-70b", 8192, 80, 64, 8, 28672), 8, false),
      scaled(llama("llama3-405b", 16384, 126, 128, 8, 53248), 8, false),
  };
  return all;
}

}  // namespace

const std::vector<std::string>& preset_names() {
  static const std::vector<std::string> names = [] {
    std::vector<std::string> result;
    for (const Model& model : presets()) result.push_back(model.preset);
    return result;
  }();
  return names;
}

std::optional<Model> preset(std::string_view name) {
  const auto& all = presets();
  const auto found = std::ranges::find(all, name, &Model::preset);
  return found == all.end() ? std::nullopt : std::optional(*found);
}

}  // namespace heddle::recipe
