// The weights of Hugging Face's Llama folders: the reference checkpoints read and written, and
// folders with faults.
#include "tests/engine/checkpoint/hugging_face_folder.h"
#include "tests/support/test_class.h"

class HuggingFaceTest : public QObject, private HuggingFaceFolder {
  Q_OBJECT

 private Q_SLOTS:
  void init() { folder_ = std::make_unique<QTemporaryDir>(); }

  void names_of_all_parameters() {
    for (const std::string& reference : {kTiny, kTied}) {
      const auto file = SafetensorsFile::open(reference + "/model.safetensors");
      const auto all = holdings::parameters_of(*read_config(reference));
      QCOMPARE(all.size(), file->tensors().size());
      for (const holdings::Parameter& parameter : all) {
        const TensorInfo* tensor = file->find(parameter.hugging_face_name);
        QVERIFY2(tensor, parameter.hugging_face_name.c_str());
        QCOMPARE(parameter.shape, tensor->shape);
      }
    }
    const auto all = holdings::parameters_of(*read_config(kTiny));
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
  void rows_of_queries_and_keys() {
    holdings::Parameter parameter;
    parameter.head_dim = 8;
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

  void reads_only_the_rows_of_a_rank() {
    const auto checkpoint = HuggingFaceCheckpoint::open(kTiny);
    QVERIFY2(checkpoint.has_value(), checkpoint ? "" : checkpoint.error().message.c_str());
    for (const holdings::Parameter& parameter : checkpoint->parameters()) {
      const std::vector<float> whole = all_rows(*checkpoint, parameter);
      QVERIFY(!whole.empty());
      for (int64_t ranks : {2, 3, 7}) {  // shards that do not divide, too
        const int64_t shard = (parameter.rows() + ranks - 1) / ranks;
        for (int64_t begin = 0; begin < parameter.rows(); begin += shard) {
          const int64_t end = std::min(begin + shard, parameter.rows());
          std::vector<float> part(static_cast<size_t>((end - begin) * parameter.columns()));
          QVERIFY(checkpoint->read_rows(parameter.name(), begin, end, part.data()).has_value());
          QVERIFY(std::ranges::equal(
              part, std::span(whole).subspan(static_cast<size_t>(begin * parameter.columns()),
                                             part.size())));
        }
      }
    }
  }

  void rows_that_are_not_there() {
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

  void writes_what_it_reads() {
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

  void what_is_not_finite_is_named() {
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
    for (const holdings::Parameter& parameter : holdings::parameters_of(*read_config(kTiny))) {
      if (parameter.rows() * parameter.columns() > static_cast<int64_t>(numbers.size())) continue;
      const auto read = weights->read(parameter, whole_box(parameter), numbers.data());
      QCOMPARE(read.has_value(), parameter.hugging_face_name != name);
      if (!read)
        QCOMPARE(QString::fromStdString(read.error().message).remove(0, int(folder().size())),
                 QString(": tensor \"%1\", row 9, column 5 is nan; valid: finite weights")
                     .arg(name.c_str()));
    }
  }

  void writes_bf16_in_shards() {
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
    for (const holdings::Parameter& parameter : original->parameters()) {
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

  void a_source_that_fails_leaves_no_checkpoint() {
    const auto model = read_config(kTiny);
    const auto written = write_hugging_face(
        folder(), *model, [](const holdings::Parameter& parameter, auto...) -> Result<> {
          return heddle::fail("{} is lost", parameter.name());
        });
    QCOMPARE(QString::fromStdString(written.error().message), QString("output.weight is lost"));
    QVERIFY(fs::is_empty(folder()));
  }

  void reads_bf16_and_shards() {
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
    for (const holdings::Parameter& parameter : original->parameters()) {
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

  void a_tensor_missing() {
    copy_of(kTiny);
    Safetensors file = Safetensors::read(kTiny + "/model.safetensors");
    auto entry = file.header["model.norm.weight"];
    file.header.erase("model.norm.weight");
    file.header["model.norm.bias"] = entry;
    write_file(folder() + "/model.safetensors", file.bytes());
    QCOMPARE(refusal(HuggingFaceCheckpoint::open(folder())),
             QString("F: no tensor \"model.norm.weight\""));
  }

  void tensors_that_nothing_uses_are_named() {
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
  void a_tied_model_with_an_output_of_its_own() {
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

  void a_wrong_shape_and_type() {
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

  void a_model_that_is_not_the_checkpoints() {
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

  void folders_that_are_none() {
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

HEDDLE_TEST(HuggingFaceTest)
#include "hugging_face_test.moc"
