// config.json of Hugging Face's Llama folders, read and written: shapes, RoPE, what is refused.
#include "tests/engine/checkpoint/hugging_face_folder.h"
#include "tests/support/test_class.h"

class HuggingFaceConfigTest : public QObject, private HuggingFaceFolder {
  Q_OBJECT

 private Q_SLOTS:
  void init() { folder_ = std::make_unique<QTemporaryDir>(); }

  void reads_the_model() {
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

  void reads_the_older_way_to_write_rope() {
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

  void reads_yarn() {
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
    // A missing key follows from the longest sequence.
    edit_config("rope_parameters", json::parse(R"({"rope_type": "yarn",
        "original_max_position_embeddings": 32, "mscale": 1.0, "mscale_all_dim": 0.5})"));
    const auto scaling = read_config(folder())->rope_scaling;
    QCOMPARE(scaling->factor, 2.0);
    QCOMPARE(scaling->attention_factor, (0.1 * std::log(2.0) + 1) / (0.05 * std::log(2.0) + 1));
  }

  void reads_qwen3() {
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

  void reads_qwen2() {
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

  void what_transformers_has_no_model_for_is_not_written() {
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

  void configs_that_heddles_llama_is_not_data() {
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
  void configs_that_heddles_llama_is_not() {
    QFETCH(QString, key);
    QFETCH(QString, value);
    QFETCH(QString, expected);
    copy_of(kTiny);
    edit_config(qPrintable(key), json::parse(value.toStdString()));
    QCOMPARE(refusal(HuggingFaceCheckpoint::open(folder())), "F/config.json: " + expected);
  }

  // As transformers 5.24 reads them: a window hides nothing, a key has a default, a word is another
  // for the same. The longest sequence is 64 tokens, of 2 layers.
  void configs_that_mean_the_same_data() {
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
  void configs_that_mean_the_same() {
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

  void windows_of_qwen_data() {
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
  void windows_of_qwen() {
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
  void rope_that_leaves_something_out() {
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

  void a_source_is_kept_but_for_what_changed() {
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

  void configs_come_back() {
    for (const std::string& reference : {kTiny, kTied, kQwen2, kQwen3}) {
      const auto model = read_config(reference);
      write_file(folder() + "/config.json", *config_json(*model));
      const auto again = read_config(folder());
      QVERIFY2(again.has_value(), again ? "" : again.error().message.c_str());
      QVERIFY(*again == *model);
    }
  }
};

HEDDLE_TEST(HuggingFaceConfigTest)
#include "hugging_face_config_test.moc"
