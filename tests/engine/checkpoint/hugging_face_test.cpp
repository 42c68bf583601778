// Hugging Face's Llama folders: the reference checkpoints read and written, and folders with
// faults.
#include "engine/checkpoint/hugging_face.h"

#include <QTemporaryDir>
#include <QtTest>
#include <algorithm>
#include <bit>
#include <cmath>
#include <filesystem>
#include <limits>
#include <numeric>
#include <set>

#include "engine/checkpoint/weights.h"
#include "tests/engine/checkpoint/files.h"

using namespace heddle::checkpoint;
using heddle::Result;
using nlohmann::json;
namespace recipe = heddle::recipe;
namespace fs = std::filesystem;

namespace {

const std::string kReference = HEDDLE_SOURCE_DIR "/tests/fixtures/reference/";
const std::string kTiny = kReference + "llama-tiny";
const std::string kTied = kReference + "llama-tiny-scaled-rope-tied";
const std::string kShapes = HEDDLE_SOURCE_DIR "/tests/fixtures/shapes/";
const std::string kQwen2 = kShapes + "qwen2", kQwen3 = kShapes + "qwen3-tied";

/// Hands out what a checkpoint holds.
RowSource rows_of(const HuggingFaceCheckpoint& checkpoint) {
  return [&checkpoint](const Parameter& parameter, int64_t begin, int64_t end, float* out) {
    return checkpoint.read_rows(parameter.name, begin, end, out);
  };
}

std::vector<float> all_rows(const HuggingFaceCheckpoint& checkpoint, const Parameter& parameter) {
  std::vector<float> values(static_cast<size_t>(parameter.rows() * parameter.columns()));
  const auto read = checkpoint.read_rows(parameter.name, 0, parameter.rows(), values.data());
  return read ? values : std::vector<float>();
}

const Parameter& find(const std::vector<Parameter>& all, const std::string& name) {
  return *std::ranges::find(all, name, &Parameter::name);
}

uint16_t to_bf16(float value) {
  return static_cast<uint16_t>(std::bit_cast<uint32_t>(value) >> 16);
}

}  // namespace

class HuggingFaceTest : public QObject {
  Q_OBJECT

  std::unique_ptr<QTemporaryDir> folder_;

  std::string folder() { return folder_->path().toStdString(); }

  /// A copy of a reference checkpoint that a test may damage.
  std::string copy_of(const std::string& reference) {
    for (const char* file : {"config.json", "model.safetensors"})
      fs::copy_file(reference + "/" + file, folder() + "/" + file,
                    fs::copy_options::overwrite_existing);
    return folder();
  }

  /// The error of a folder, with the folder itself written as "F".
  QString refusal(const Result<HuggingFaceCheckpoint>& opened) {
    if (opened) return "accepted";
    return QString::fromStdString(opened.error().message)
        .replace(QString::fromStdString(folder()), "F");
  }

  void edit_config(const char* key, const json& value) {
    json config = json::parse(read_file(folder() + "/config.json"));
    config[key] = value;
    write_file(folder() + "/config.json", config.dump());
  }

 private Q_SLOTS:
  void init() { folder_ = std::make_unique<QTemporaryDir>(); }

  void readsTheModel() {
    const auto tiny = read_config(kTiny);
    QVERIFY2(tiny.has_value(), tiny ? "" : tiny.error().message.c_str());
    recipe::Model expected;
    expected.dim = 64;
    expected.n_layers = 2;
    expected.n_heads = 4;
    expected.n_kv_heads = 2;
    expected.ffn_dim = 176;
    expected.vocab_size = 256;
    expected.max_seq_len = 64;
    QVERIFY(*tiny == expected);

    expected.n_layers = 3;
    expected.n_heads = 8;
    expected.ffn_dim = 128;
    expected.vocab_size = 320;
    expected.max_seq_len = 128;
    expected.tied_embeddings = true;
    expected.rope_scaling = recipe::RopeScaling{.original_max_position = 16};
    QVERIFY(*read_config(kTied) == expected);
  }

  void readsTheOlderWayToWriteRope() {
    const json scaling = {{"factor", 32.0},
                          {"low_freq_factor", 1.0},
                          {"high_freq_factor", 4.0},
                          {"original_max_position_embeddings", 8192},
                          {"rope_type", "llama3"}};
    json config = json::parse(read_file(kTied + "/config.json"));
    config.erase("rope_parameters");
    write_file(folder() + "/config.json", config.dump());
    QCOMPARE(read_config(folder())->rope_theta, 10000.0);
    QVERIFY(!read_config(folder())->rope_scaling);
    edit_config("rope_theta", 500000.0);
    edit_config("rope_scaling", scaling);
    QCOMPARE(read_config(folder())->rope_theta, 500000.0);
    QVERIFY(read_config(folder())->rope_scaling == recipe::RopeScaling{.factor = 32.0});
    edit_config("rope_scaling", {{"type", "linear"}, {"factor", 2.0}});
    const recipe::RopeScaling linear{.type = recipe::RopeType::linear, .factor = 2.0};
    QVERIFY(read_config(folder())->rope_scaling == linear);
    edit_config("rope_scaling", {{"type", "dynamic"}, {"factor", 2.0}});
    QVERIFY(
        QString::fromStdString(read_config(folder()).error().message)
            .endsWith("config.json: rope_scaling.rope_type = \"dynamic\" is not supported; valid: "
                      "\"default\", \"linear\", \"llama3\" or \"yarn\""));
  }

  void readsYarn() {
    copy_of(kTiny);
    using recipe::RopeType;
    edit_config("rope_parameters", json::parse(R"({"rope_type": "yarn", "factor": 4.0,
        "original_max_position_embeddings": 16, "beta_fast": 8, "truncate": false})"));
    const recipe::RopeScaling some{.type = RopeType::yarn,
                                   .factor = 4.0,
                                   .original_max_position = 16,
                                   .beta_fast = 8.0,
                                   .truncate = false};
    QVERIFY(read_config(folder())->rope_scaling == some);
    // What is left out follows from the longest sequence.
    edit_config("rope_parameters", json::parse(R"({"rope_type": "yarn",
        "original_max_position_embeddings": 32, "mscale": 1.0, "mscale_all_dim": 0.5})"));
    const auto scaling = read_config(folder())->rope_scaling;
    QCOMPARE(scaling->factor, 2.0);
    QCOMPARE(scaling->attention_factor, (0.1 * std::log(2.0) + 1) / (0.05 * std::log(2.0) + 1));
  }

  void readsQwen3() {
    copy_of(kTiny);
    edit_config("model_type", "qwen3");
    edit_config("head_dim", nullptr);
    edit_config("layer_types", {"full_attention", "full_attention"});
    const auto model = read_config(folder());
    QVERIFY2(model.has_value(), model ? "" : model.error().message.c_str());
    QVERIFY(model->qk_norm);
    QCOMPARE(model->head_dim, int64_t(128));  // as transformers has it where it is not written
    edit_config("layer_types", {"full_attention", "sliding_attention"});
    QVERIFY(!read_config(folder()));
  }

  void readsQwen2() {
    copy_of(kTiny);
    edit_config("model_type", "qwen2");
    edit_config("sliding_window", 4096);
    edit_config("use_sliding_window", false);
    edit_config("attention_bias", nullptr);  // the model has them without a key
    const auto model = read_config(folder());
    QVERIFY2(model.has_value(), model ? "" : model.error().message.c_str());
    QVERIFY(model->qkv_bias && !model->attention_bias && !model->qk_norm);
    edit_config("mlp_bias", true);
    QCOMPARE(refusal(HuggingFaceCheckpoint::open(folder())),
             QString("F/config.json: mlp_bias = true is not supported; valid: false"));
  }

  void whatTransformersHasNoModelForIsNotWritten() {
    const recipe::Model tiny = *read_config(kTiny);
    const auto refused = [&](bool recipe::Model::*one, bool recipe::Model::*other) {
      recipe::Model model = tiny;
      model.*one = model.*other = true;
      const auto config = config_json(model);
      return config ? "" : QString::fromStdString(config.error().message);
    };
    using recipe::Model;
    const QString both =
        "transformers has no Llama with both model.%1 and model.%2; valid: one of them";
    QCOMPARE(refused(&Model::qk_norm, &Model::mlp_bias), both.arg("qk_norm", "mlp_bias"));
    QCOMPARE(refused(&Model::qk_norm, &Model::qkv_bias), both.arg("qk_norm", "qkv_bias"));
    QCOMPARE(refused(&Model::mlp_bias, &Model::qkv_bias), both.arg("qkv_bias", "mlp_bias"));
  }

  void configsThatHeddlesLlamaIsNot_data() {
    QTest::addColumn<QString>("key");
    QTest::addColumn<QString>("value");
    QTest::addColumn<QString>("expected");
    const auto row = [](const char* key, const char* value, const char* expected) {
      QTest::addRow("%s = %s", key, value) << key << value << expected;
    };
    row("model_type", "\"gemma\"",
        "model_type = \"gemma\" is not supported; valid: \"llama\", \"mistral\", \"qwen2\" or "
        "\"qwen3\"");
    row("model_type", "null",
        "model_type is missing; valid: \"llama\", \"mistral\", \"qwen2\" or \"qwen3\"");
    row("attention_bias", "1", "attention_bias = 1 is not supported; valid: true or false");
    row("mlp_bias", "\"no\"", "mlp_bias = \"no\" is not supported; valid: true or false");
    row("hidden_act", "\"gelu\"", "hidden_act = \"gelu\" is not supported; valid: \"silu\"");
    row("partial_rotary_factor", "0.5", "partial_rotary_factor = 0.5 is not supported; valid: 1.0");
    row("attention_dropout", "0.1", "attention_dropout = 0.1 is not supported; valid: 0.0");
    row("head_dim", "15", "head_dim = 15 is not supported; valid: an even number");
    row("hidden_size", "null", "hidden_size is missing; valid: a whole number from 1 to 1048576");
    row("hidden_size", "\"64\"",
        "hidden_size = \"64\" is not supported; valid: a whole number from 1 to 1048576");
    row("num_hidden_layers", "0",
        "num_hidden_layers = 0 is not supported; valid: a whole number from 1 to 10000");
    row("num_hidden_layers", "2147483647",
        "num_hidden_layers = 2147483647 is not supported; valid: a whole number from 1 to 10000");
    row("num_attention_heads", "5",
        "num_key_value_heads = 2 is not supported; valid: a divisor of num_attention_heads 5");
    row("num_key_value_heads", "3",
        "num_key_value_heads = 3 is not supported; valid: a divisor of num_attention_heads 4");
    row("rms_norm_eps", "0", "rms_norm_eps = 0 is not supported; valid: a number above 0");
    row("tie_word_embeddings", "1",
        "tie_word_embeddings = 1 is not supported; valid: true or false");
    row("rope_parameters", "7", "rope_parameters = 7 is not supported; valid: an object");
    row("rope_parameters", R"({"rope_type": "llama3"})",
        "rope_parameters.factor is missing; valid: a number above 0");
    row("rope_parameters", R"({"rope_type": "longrope"})",
        "rope_parameters.rope_type = \"longrope\" is not supported; valid: \"default\", "
        "\"linear\", "
        "\"llama3\" or \"yarn\"");
    row("rope_parameters", R"({"rope_type": "yarn", "beta_fast": -1})",
        "rope_parameters.beta_fast = -1 is not supported; valid: a number above 0");
    row("quantization_config", R"({"bits":8})",
        "quantization_config = {\"bits\":8} is not supported; valid: null");
  }
  void configsThatHeddlesLlamaIsNot() {
    QFETCH(QString, key);
    QFETCH(QString, value);
    QFETCH(QString, expected);
    copy_of(kTiny);
    edit_config(qPrintable(key), json::parse(value.toStdString()));
    QCOMPARE(refusal(HuggingFaceCheckpoint::open(folder())), "F/config.json: " + expected);
  }

  // As transformers 5.24 reads them: a window hides nothing, a key has a default, a word is another
  // for the same. The longest sequence is 64 tokens, of 2 layers.
  void configsThatMeanTheSame_data() {
    QTest::addColumn<QString>("patch");
    const auto row = [](const char* patch) { QTest::newRow(patch) << patch; };
    row(R"({"hidden_act": "swish"})");
    row(R"({"sliding_window": 16})");  // transformers' Llama has none
    row(R"({"model_type": "mistral", "sliding_window": null})");
    row(R"({"model_type": "mistral", "sliding_window": 64})");
    row(R"({"model_type": "mistral"})");  // 4096
    row(R"({"model_type": "mistral", "attention_bias": true, "sliding_window": null})");
    row(R"({"rope_scaling": {}, "attention_dropout": 0})");
    row(R"({"partial_rotary_factor": 1.0, "pretraining_tp": 4, "rope_interleaved": false})");
  }
  void configsThatMeanTheSame() {
    QFETCH(QString, patch);
    copy_of(kTiny);
    const recipe::Model plain = *read_config(folder());
    json config = json::parse(read_file(folder() + "/config.json"));
    config.update(json::parse(patch.toStdString()));
    write_file(folder() + "/config.json", config.dump());
    const auto model = read_config(folder());
    QVERIFY2(model.has_value(), model ? "" : model.error().message.c_str());
    QVERIFY(*model == plain);
  }

  void windowsOfQwen_data() {
    QTest::addColumn<QString>("patch");
    QTest::addColumn<QString>("expected");
    const auto row = [](const char* patch, const char* expected = "accepted") {
      QTest::newRow(patch) << patch << expected;
    };
    row(R"({"sliding_window": 16, "use_sliding_window": false})");
    row(R"({"sliding_window": 16, "use_sliding_window": true, "max_window_layers": 2})");
    row(R"({"sliding_window": null, "use_sliding_window": true, "max_window_layers": 0})");
    row(R"({"sliding_window": 64, "use_sliding_window": true, "max_window_layers": 0})");
    row(R"({"sliding_window": 16, "use_sliding_window": true})");  // from layer 28 on
    row(R"({"sliding_window": 16, "use_sliding_window": true, "max_window_layers": 1})",
        "sliding_window = 16 is not supported; valid: null, or at least max_position_embeddings "
        "64");
    row(R"({"layer_types": ["full_attention", "sliding_attention"]})",
        "layer_types = [\"full_attention\",\"sliding_attention\"] is not supported; valid: "
        "\"full_attention\" alone");
    row(R"({"model_type": "mistral", "sliding_window": 63})",
        "sliding_window = 63 is not supported; valid: null, or at least max_position_embeddings "
        "64");
  }
  void windowsOfQwen() {
    QFETCH(QString, patch);
    QFETCH(QString, expected);
    copy_of(kTiny);
    json config = json::parse(read_file(folder() + "/config.json"));
    config["model_type"] = "qwen2";
    config.update(json::parse(patch.toStdString()));
    write_file(folder() + "/config.json", config.dump());
    const auto model = read_config(folder());
    QCOMPARE(model ? QString("accepted")
                   : QString::fromStdString(model.error().message).section("config.json: ", 1),
             expected);
  }

  // transformers 5.24 gives these scalings their defaults and ignores a scale of 0.
  void ropeThatLeavesSomethingOut() {
    copy_of(kTiny);
    const auto scaling_of = [&](const char* rope) {
      edit_config("rope_parameters", json::parse(rope));
      return read_config(folder())->rope_scaling;
    };
    const recipe::RopeScaling llama3{.factor = 8.0, .original_max_position = 64};
    QVERIFY(scaling_of(R"({"rope_type": "llama3", "factor": 8.0, "low_freq_factor": 1.0,
                           "high_freq_factor": 4.0})") == llama3);
    QCOMPARE(scaling_of(R"({"rope_type": "yarn", "factor": 4.0, "mscale": 1.0,
                            "mscale_all_dim": 0})")
                 ->attention_factor,
             0.0);
    QCOMPARE(scaling_of(R"({"rope_type": "yarn", "factor": 4.0, "mscale": 0.0,
                            "mscale_all_dim": 1.0})")
                 ->attention_factor,
             0.0);
    edit_config("original_max_position_embeddings", 16);  // Phi's place for it
    QCOMPARE(scaling_of(R"({"rope_type": "yarn", "factor": 4.0})")->original_max_position,
             int64_t(16));
  }

  void aSourceIsKeptButForWhatChanged() {
    copy_of(kTiny);
    json config = json::parse(read_file(folder() + "/config.json"));
    config.update(json::parse(R"({"model_type": "mistral", "sliding_window": 64,
        "bos_token_id": 3, "eos_token_id": [4, 5], "pad_token_id": 6, "initializer_range": 0.5,
        "auto_map": {"AutoModelForCausalLM": "modeling_tiny.Tiny"}})"));
    write_file(folder() + "/config.json", config.dump());
    write_file(folder() + "/generation_config.json",
               R"({"temperature": 0.6, "eos_token_id": [4, 5]})");
    recipe::Model model = *read_config(folder());
    Export how{.dtype = Dtype::bf16, .source = folder()};
    json expected = config;
    expected.erase("auto_map");
    expected.update(json::parse(R"({"architectures": ["MistralForCausalLM"],
        "sliding_window": null, "dtype": "bfloat16", "torch_dtype": "bfloat16",
        "rope_theta": 500000.0})"));
    QCOMPARE(QString::fromStdString(json::parse(*config_json(model, how)).dump(1)),
             QString::fromStdString(expected.dump(1)));
    QCOMPARE(json::parse(**generation_config_json(how)),
             json::parse(R"({"temperature": 0.6, "eos_token_id": [4, 5]})"));

    how.also_ends = 5;  // does so already
    QCOMPARE(json::parse(*config_json(model, how))["eos_token_id"], json({4, 5}));
    how.also_ends = 7;
    QCOMPARE(json::parse(*config_json(model, how))["eos_token_id"], json({4, 5, 7}));
    QCOMPARE(json::parse(**generation_config_json(how))["eos_token_id"], json({4, 5, 7}));
    how.also_ends.reset();

    model.rope_scaling = recipe::RopeScaling{.type = recipe::RopeType::linear, .factor = 2.0};
    model.max_seq_len = 128;
    how.tokens = SpecialTokenIds{.bos = {}, .eos = 9, .pad = {}};
    const json changed = json::parse(*config_json(model, how));
    QCOMPARE(changed["max_position_embeddings"], 128);
    QCOMPARE(changed["rope_scaling"], json::parse(R"({"rope_type": "linear", "factor": 2.0})"));
    QCOMPARE(changed["rope_parameters"],
             json::parse(R"({"rope_type": "linear", "factor": 2.0, "rope_theta": 500000.0})"));
    QVERIFY(changed["sliding_window"].is_null());
    QVERIFY(changed["bos_token_id"].is_null());
    QCOMPARE(changed["eos_token_id"], 9);
    QCOMPARE(changed["initializer_range"], 0.5);
    QCOMPARE(json::parse(**generation_config_json(how)),
             json::parse(R"({"temperature": 0.6, "eos_token_id": 9})"));

    // Another model's settings are not this one's.
    model.n_layers = 7;
    QCOMPARE(json::parse(*config_json(model, how))["model_type"], "llama");
  }

  void configsComeBack() {
    for (const std::string& reference : {kTiny, kTied, kQwen2, kQwen3}) {
      const auto model = read_config(reference);
      write_file(folder() + "/config.json", *config_json(*model));
      const auto again = read_config(folder());
      QVERIFY2(again.has_value(), again ? "" : again.error().message.c_str());
      QVERIFY(*again == *model);
    }
  }

  void namesOfAllParameters() {
    for (const std::string& reference : {kTiny, kTied}) {
      const auto file = SafetensorsFile::open(reference + "/model.safetensors");
      const auto all = parameters(*read_config(reference));
      QCOMPARE(all.size(), file->tensors().size());
      for (const Parameter& parameter : all) {
        const TensorInfo* tensor = file->find(parameter.hugging_face_name);
        QVERIFY2(tensor, parameter.hugging_face_name.c_str());
        QCOMPARE(parameter.shape, tensor->shape);
      }
    }
    const auto all = parameters(*read_config(kTiny));
    const auto name = [&](const char* own) { return find(all, own).hugging_face_name; };
    QCOMPARE(name("tok_embeddings.weight"), std::string("model.embed_tokens.weight"));
    QCOMPARE(name("layers.1.attention.wo.weight"),
             std::string("model.layers.1.self_attn.o_proj.weight"));
    QCOMPARE(name("layers.0.feed_forward.w1.weight"),
             std::string("model.layers.0.mlp.gate_proj.weight"));
    QCOMPARE(name("layers.0.feed_forward.w2.weight"),
             std::string("model.layers.0.mlp.down_proj.weight"));
    QCOMPARE(name("layers.0.feed_forward.w3.weight"),
             std::string("model.layers.0.mlp.up_proj.weight"));
    QCOMPARE(name("layers.0.attention_norm.weight"),
             std::string("model.layers.0.input_layernorm.weight"));
    QCOMPARE(name("layers.0.ffn_norm.weight"),
             std::string("model.layers.0.post_attention_layernorm.weight"));
    QCOMPARE(name("output.weight"), std::string("lm_head.weight"));
  }

  /// own → Hugging Face is view(heads, d/2, 2, in).transpose(1, 2).
  void rowsOfQueriesAndKeys() {
    Parameter parameter{.name = "wq", .hugging_face_name = "q", .shape = {24, 5}, .head_dim = 8};
    std::vector<int64_t> own_rows_in_hugging_face_order;
    for (int64_t head = 0; head < 3; ++head)
      for (int64_t half = 0; half < 2; ++half)
        for (int64_t pair = 0; pair < 4; ++pair)
          own_rows_in_hugging_face_order.push_back(head * 8 + pair * 2 + half);
    for (int64_t row = 0; row < 24; ++row)
      QCOMPARE(parameter.hugging_face_row(own_rows_in_hugging_face_order[row]), row);
    parameter.head_dim = 0;
    QCOMPARE(parameter.hugging_face_row(13), int64_t{13});
  }

  void readsOnlyTheRowsOfARank() {
    const auto checkpoint = HuggingFaceCheckpoint::open(kTiny);
    QVERIFY2(checkpoint.has_value(), checkpoint ? "" : checkpoint.error().message.c_str());
    for (const Parameter& parameter : checkpoint->parameters()) {
      const std::vector<float> whole = all_rows(*checkpoint, parameter);
      QVERIFY(!whole.empty());
      for (int64_t ranks : {2, 3, 7}) {  // shards that do not divide, too
        const int64_t shard = (parameter.rows() + ranks - 1) / ranks;
        for (int64_t begin = 0; begin < parameter.rows(); begin += shard) {
          const int64_t end = std::min(begin + shard, parameter.rows());
          std::vector<float> part(static_cast<size_t>((end - begin) * parameter.columns()));
          QVERIFY(checkpoint->read_rows(parameter.name, begin, end, part.data()).has_value());
          QVERIFY(std::ranges::equal(
              part, std::span(whole).subspan(static_cast<size_t>(begin * parameter.columns()),
                                             part.size())));
        }
      }
    }
  }

  void rowsThatAreNotThere() {
    const auto checkpoint = HuggingFaceCheckpoint::open(kTied);
    float out = 0;
    const auto error = [&](std::string_view name, int64_t begin, int64_t end) {
      return QString::fromStdString(checkpoint->read_rows(name, begin, end, &out).error().message);
    };
    QCOMPARE(error("output.weight", 0, 1), QString("the model has no parameter \"output.weight\""));
    QCOMPARE(error("norm.weight", 60, 65),
             QString("\"norm.weight\" has rows [0, 64), not [60, 65)"));
    QCOMPARE(error("norm.weight", 3, 2), QString("\"norm.weight\" has rows [0, 64), not [3, 2)"));
    QCOMPARE(error("norm.weight", -1, 2), QString("\"norm.weight\" has rows [0, 64), not [-1, 2)"));
  }

  void writesWhatItReads() {
    for (const std::string& reference : {kTiny, kTied}) {
      const auto checkpoint = HuggingFaceCheckpoint::open(reference);
      const std::string out = folder() + "/new/" + fs::path(reference).filename().string();
      const auto written = write_hugging_face(out, checkpoint->model(), rows_of(*checkpoint));
      QVERIFY2(written.has_value(), written ? "" : written.error().message.c_str());
      QVERIFY(read_file(out + "/model.safetensors") == read_file(reference + "/model.safetensors"));
      const auto again = HuggingFaceCheckpoint::open(out);
      QVERIFY2(again.has_value(), again ? "" : again.error().message.c_str());
      QVERIFY(again->model() == checkpoint->model());
    }
  }

  void whatIsNotFiniteIsNamed() {
    copy_of(kTiny);
    Safetensors file = Safetensors::read(kTiny + "/model.safetensors");
    // Row 9 of q_proj is the second of a pair: row 3 of its head in Heddle's layout.
    const std::string name = "model.layers.1.self_attn.q_proj.weight";
    const size_t begin = file.header[name]["data_offsets"][0];
    const float bad = std::numeric_limits<float>::quiet_NaN();
    std::memcpy(file.data.data() + begin + (9 * 64 + 5) * sizeof(bad), &bad, sizeof(bad));
    write_file(folder() + "/model.safetensors", file.bytes());
    const auto weights = Weights::open(folder(), *read_config(kTiny));
    QVERIFY(weights.has_value());
    std::vector<float> numbers(64 * 64);
    for (const Parameter& parameter : parameters(*read_config(kTiny))) {
      if (parameter.rows() * parameter.columns() > static_cast<int64_t>(numbers.size())) continue;
      const auto read = weights->read(parameter, whole_box(parameter), numbers.data());
      QCOMPARE(read.has_value(), parameter.hugging_face_name != name);
      if (!read)
        QCOMPARE(QString::fromStdString(read.error().message).remove(0, int(folder().size())),
                 QString(": tensor \"%1\", row 9, column 5 is nan; valid: finite weights")
                     .arg(name.c_str()));
    }
  }

  void writesBf16InShards() {
    const auto original = HuggingFaceCheckpoint::open(kTied);
    const auto written =
        write_hugging_face(folder(), original->model(), rows_of(*original),
                           {.dtype = Dtype::bf16,
                            .shard_bytes = 30'000,
                            .tokens = SpecialTokenIds{.bos = 7, .eos = 9, .pad = {}}});
    QVERIFY2(written.has_value(), written ? "" : written.error().message.c_str());
    const json index = json::parse(read_file(folder() + "/model.safetensors.index.json"));
    std::set<std::string> files;
    int64_t bytes = 0;
    for (const auto& [tensor, file] : index["weight_map"].items()) files.insert(file);
    for (const std::string& file : files) {
      const auto shard = SafetensorsFile::open(folder() + "/" + file);
      QVERIFY(shard.has_value());
      for (const TensorInfo& tensor : shard->tensors()) {
        QCOMPARE(index["weight_map"][tensor.name], file);
        bytes += 2 * std::accumulate(tensor.shape.begin(), tensor.shape.end(), int64_t{1},
                                     std::multiplies<>());
      }
    }
    QVERIFY(files.size() > 2);
    QVERIFY(files.contains(fmt::format("model-00001-of-{:05}.safetensors", files.size())));
    QCOMPARE(index["metadata"]["total_size"], bytes);
    for (const char* file : {"/config.json", "/generation_config.json"}) {
      const json config = json::parse(read_file(folder() + file));
      QCOMPARE(config["bos_token_id"], 7);
      QCOMPARE(config["eos_token_id"], 9);
    }
    QCOMPARE(json::parse(read_file(folder() + "/config.json"))["torch_dtype"], "bfloat16");

    const auto again = HuggingFaceCheckpoint::open(folder());
    QVERIFY2(again.has_value(), again ? "" : again.error().message.c_str());
    QVERIFY(again->model() == original->model());
    for (const Parameter& parameter : original->parameters()) {
      const std::vector<float> exact = all_rows(*original, parameter),
                               rounded = all_rows(*again, parameter);
      for (size_t i = 0; i < exact.size(); ++i) {
        // The nearer of its two neighbours.
        const float down = std::bit_cast<float>(std::bit_cast<uint32_t>(exact[i]) & 0xFFFF0000);
        const float up = std::bit_cast<float>(std::bit_cast<uint32_t>(down) + 0x10000);
        const float off = std::abs(rounded[i] - exact[i]);
        QVERIFY(rounded[i] == down || rounded[i] == up);
        QVERIFY(off <= std::abs(down - exact[i]) && off <= std::abs(up - exact[i]));
      }
    }
  }

  void aSourceThatFailsLeavesNoCheckpoint() {
    const auto model = read_config(kTiny);
    const auto written =
        write_hugging_face(folder(), *model, [](const Parameter& parameter, auto...) -> Result<> {
          return heddle::fail("{} is lost", parameter.name);
        });
    QCOMPARE(QString::fromStdString(written.error().message), QString("output.weight is lost"));
    QVERIFY(fs::is_empty(folder()));
  }

  void readsBf16AndShards() {
    copy_of(kTiny);
    const Safetensors whole = Safetensors::read(kTiny + "/model.safetensors");
    json index = {{"weight_map", json::object()}};
    for (const int shard : {0, 1}) {
      const std::string name = "model-0000" + std::to_string(shard + 1) + "-of-00002.safetensors";
      Safetensors half;
      int place = 0;
      for (const auto& [tensor, entry] : whole.header.items()) {
        if (tensor == "__metadata__" || place++ % 2 != shard) continue;
        const size_t begin = entry["data_offsets"][0];
        const size_t end = entry["data_offsets"][1];
        const size_t new_begin = half.data.size();
        for (size_t at = begin; at < end; at += sizeof(float)) {
          float value = 0;
          std::memcpy(&value, whole.data.data() + at, sizeof(value));
          const uint16_t stored = to_bf16(value);
          half.data.append(reinterpret_cast<const char*>(&stored), sizeof(stored));
        }
        half.header[tensor] = {{"dtype", "BF16"},
                               {"shape", entry["shape"]},
                               {"data_offsets", {new_begin, half.data.size()}}};
        index["weight_map"][tensor] = name;
      }
      write_file(folder() + "/" + name, half.bytes());
    }
    fs::remove(folder() + "/model.safetensors");
    write_file(folder() + "/model.safetensors.index.json", index.dump());

    const auto original = HuggingFaceCheckpoint::open(kTiny);
    const auto sharded = HuggingFaceCheckpoint::open(folder());
    QVERIFY2(sharded.has_value(), sharded ? "" : sharded.error().message.c_str());
    for (const Parameter& parameter : original->parameters()) {
      std::vector<float> expected = all_rows(*original, parameter);
      for (float& value : expected)
        value = std::bit_cast<float>(static_cast<uint32_t>(to_bf16(value)) << 16);
      QCOMPARE(all_rows(*sharded, parameter), expected);
    }

    fs::remove(folder() + "/model-00002-of-00002.safetensors");
    QCOMPARE(refusal(HuggingFaceCheckpoint::open(folder())),
             QString("F/model-00002-of-00002.safetensors: cannot be read: No such file or "
                     "directory"));
    index["weight_map"]["lm_head.weight"] = std::string("model-00001-of-00002.safetensors\0x", 34);
    write_file(folder() + "/model.safetensors.index.json", index.dump());
    QCOMPARE(refusal(HuggingFaceCheckpoint::open(folder())),
             QString("F/model.safetensors.index.json: \"lm_head.weight\" is in "
                     "\"model-00001-of-00002.safetensors\\u0000x\"; valid: a file of the same "
                     "folder"));
    index["weight_map"]["lm_head.weight"] = "../model.safetensors";
    write_file(folder() + "/model.safetensors.index.json", index.dump());
    QCOMPARE(refusal(HuggingFaceCheckpoint::open(folder())),
             QString("F/model.safetensors.index.json: \"lm_head.weight\" is in "
                     "\"../model.safetensors\"; valid: a file of the same folder"));
    write_file(folder() + "/model.safetensors.index.json", "[");
    QCOMPARE(refusal(HuggingFaceCheckpoint::open(folder())),
             QString("F/model.safetensors.index.json: not JSON (at byte 2)"));
  }

  void aTensorMissing() {
    copy_of(kTiny);
    Safetensors file = Safetensors::read(kTiny + "/model.safetensors");
    auto entry = file.header["model.norm.weight"];
    file.header.erase("model.norm.weight");
    file.header["model.norm.bias"] = entry;
    write_file(folder() + "/model.safetensors", file.bytes());
    QCOMPARE(refusal(HuggingFaceCheckpoint::open(folder())),
             QString("F: no tensor \"model.norm.weight\""));
  }

  void tensorsThatNothingUsesAreNamed() {
    copy_of(kTiny);
    Safetensors file = Safetensors::read(kTiny + "/model.safetensors");
    const auto add = [&](const std::string& name) {
      const size_t begin = file.data.size();
      file.data.append(8, '\0');
      file.header[name] = {
          {"dtype", "F32"}, {"shape", {2}}, {"data_offsets", {begin, file.data.size()}}};
    };
    add("model.layers.0.self_attn.rotary_emb.inv_freq");  // follows from config.json
    write_file(folder() + "/model.safetensors", file.bytes());
    QVERIFY(HuggingFaceCheckpoint::open(folder())->notes().empty());
    for (const char* layer : {"0", "1"})
      add(std::string("model.layers.") + layer + ".self_attn.q_proj.bias");
    add("visual.patch.weight");
    write_file(folder() + "/model.safetensors", file.bytes());
    const auto opened = HuggingFaceCheckpoint::open(folder());
    QVERIFY2(opened.has_value(), opened ? "" : opened.error().message.c_str());
    QCOMPARE(opened->notes().size(), size_t(1));
    QCOMPARE(QString::fromStdString(opened->notes()[0]).replace(folder().c_str(), "F"),
             QString("F: nothing uses 3 of its tensors: model.layers.*.self_attn.q_proj.bias (2), "
                     "visual.patch.weight; in config.json attention_bias and mlp_bias say whether "
                     "a Llama has biases"));
  }

  // As transformers 5.24 has it; before 5 the embedding took the output's place.
  void aTiedModelWithAnOutputOfItsOwn() {
    copy_of(kTiny);
    edit_config("tie_word_embeddings", true);
    const auto own = HuggingFaceCheckpoint::open(folder());
    QVERIFY2(own.has_value(), own ? "" : own.error().message.c_str());
    QVERIFY(!own->model().tied_embeddings);
    QVERIFY(!Weights::open(folder(), *read_config(folder())));
    QCOMPARE(own->notes().size(), size_t(1));
    QVERIFY(own->notes()[0].starts_with(
        folder() + ": lm_head.weight differs from model.embed_tokens.weight, though config.json"));

    Safetensors file = Safetensors::read(folder() + "/model.safetensors");
    const auto place = [&](const char* name) {
      return file.header[name]["data_offsets"][0].get<size_t>();
    };
    const size_t bytes = 256 * 64 * sizeof(float), head = place("lm_head.weight"),
                 embedding = place("model.embed_tokens.weight");
    std::memcpy(file.data.data() + head, file.data.data() + embedding, bytes);
    write_file(folder() + "/model.safetensors", file.bytes());
    const auto twice = HuggingFaceCheckpoint::open(folder());
    QVERIFY(twice->model().tied_embeddings);
    QVERIFY(twice->notes().empty());

    file.data[head + bytes - 1] ^= 1;  // the last number alone
    write_file(folder() + "/model.safetensors", file.bytes());
    QVERIFY(!read_hugging_face_model(folder())->tied_embeddings);

    file.header["model.embed_tokens.other"] = file.header["model.embed_tokens.weight"];
    file.header.erase("model.embed_tokens.weight");
    write_file(folder() + "/model.safetensors", file.bytes());
    const auto only = HuggingFaceCheckpoint::open(folder());  // either of the pair will do
    QVERIFY2(only.has_value(), only ? "" : only.error().message.c_str());
    QVERIFY(only->model().tied_embeddings);

    copy_of(kTied);
    edit_config("tie_word_embeddings", false);
    QCOMPARE(refusal(HuggingFaceCheckpoint::open(folder())),
             QString("F: no tensor \"lm_head.weight\"; where the embedding is the output, "
                     "config.json has tie_word_embeddings = true"));
  }

  void aWrongShapeAndType() {
    copy_of(kTiny);
    Safetensors file = Safetensors::read(kTiny + "/model.safetensors");
    auto& entry = file.header["model.layers.0.mlp.up_proj.weight"];
    entry["shape"] = {64, 176};
    write_file(folder() + "/model.safetensors", file.bytes());
    QCOMPARE(
        refusal(HuggingFaceCheckpoint::open(folder())),
        QString("F/model.safetensors: tensor \"model.layers.0.mlp.up_proj.weight\" has shape [64, "
                "176]; expected [176, 64]"));
    entry["shape"] = {176, 64};
    entry["dtype"] = "I32";
    write_file(folder() + "/model.safetensors", file.bytes());
    QCOMPARE(
        refusal(HuggingFaceCheckpoint::open(folder())),
        QString("F/model.safetensors: tensor \"model.layers.0.mlp.up_proj.weight\" is I32; valid: "
                "F32, BF16, F16, F64"));
  }

  void aModelThatIsNotTheCheckpoints() {
    copy_of(kTied);
    recipe::Model model = *read_config(kTied);
    model.rope_theta = 1e6;  // a recipe may change these
    model.norm_eps = 1e-6;
    model.rope_scaling.reset();
    QCOMPARE(refusal(HuggingFaceCheckpoint::open(folder(), model)), QString("accepted"));
    model.n_heads = 4;
    QCOMPARE(refusal(HuggingFaceCheckpoint::open(folder(), model)),
             QString("F/config.json: num_attention_heads = 8, but the model's n_heads = 4"));
    model.n_heads = 8;
    model.tied_embeddings = false;
    QCOMPARE(refusal(HuggingFaceCheckpoint::open(folder(), model)),
             QString("F/config.json: tie_word_embeddings = true, but the model's tied_embeddings = "
                     "false"));
  }

  void foldersThatAreNone() {
    QCOMPARE(refusal(HuggingFaceCheckpoint::open(folder())),
             QString("F/config.json: cannot be read: No such file or directory; valid: a Hugging "
                     "Face folder's config.json"));
    write_file(folder() + "/config.json", "{");
    QCOMPARE(refusal(HuggingFaceCheckpoint::open(folder())),
             QString("F/config.json: not JSON (at byte 2); valid: a Hugging Face folder's "
                     "config.json"));
    copy_of(kTiny);
    fs::remove(folder() + "/model.safetensors");
    QCOMPARE(
        refusal(HuggingFaceCheckpoint::open(folder())),
        QString("F: neither model.safetensors nor model.safetensors.index.json; valid: a Hugging "
                "Face folder"));
    copy_of(kTiny);
    fs::resize_file(folder() + "/model.safetensors", 300000);
    QVERIFY(refusal(HuggingFaceCheckpoint::open(folder())).endsWith(": cut short"));
  }
};

QTEST_APPLESS_MAIN(HuggingFaceTest)
#include "hugging_face_test.moc"
