// A Hugging Face folder's config.json, and the index of its weights.
#include "engine/checkpoint/hugging_face.h"

#include "tests/fuzz/input.h"

using namespace heddle;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  std::string_view input = fuzz::text(data, size);
  const bool config = fuzz::choice(input) % 2 == 0;
  constexpr const char* kConfig =
      R"({"model_type":"llama","hidden_size":64,"num_hidden_layers":1,"num_attention_heads":4,)"
      R"("intermediate_size":96,"vocab_size":128})";
  fuzz::file("config.json", config ? input : kConfig);
  const auto model = checkpoint::read_config(fuzz::folder());
  if (!model) return 0;
  (void)checkpoint::config_json(*model).has_value();
  // Layers by the billion would take a list of them.
  if (config || model->n_layers > 1) return 0;
  fuzz::file("model.safetensors.index.json", input);
  (void)checkpoint::HuggingFaceCheckpoint::open(fuzz::folder(), *model);
  return 0;
}
