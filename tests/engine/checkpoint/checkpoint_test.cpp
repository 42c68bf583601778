// Checkpoints from any layout to any other; damage, and what is not this run's; names and what is
// kept; weights to Hugging Face's layout and back.
#include <sys/stat.h>

#include <QTemporaryDir>
#include <QtTest>
#include <filesystem>
#include <map>

#include "engine/checkpoint/companions.h"
#include "engine/checkpoint/convert.h"
#include "engine/checkpoint/weights.h"
#include "tests/engine/checkpoint/files.h"
#include "tests/engine/checkpoint/small_checkpoint.h"
#include "tests/support/test_class.h"

using namespace heddle;
namespace fs = std::filesystem;

namespace {

const std::string kReferences = HEDDLE_SOURCE_DIR "/tests/fixtures/reference/";

struct Named {
  const char* name;
  small::Layout layout;
};
const std::vector<Named> kLayouts = {
    {"one rank", {.dp_shard = 1}},
    {"dp_shard 2", {.dp_shard = 2}},
    {"dp_shard 3", {.dp_shard = 3}},
    {"dp_shard 4", {.dp_shard = 4}},
    {"more ranks than rows", {.dp_shard = 16}},
    {"dp_replicate 2", {.dp_replicate = 2, .dp_shard = 1}},
    {"hsdp 2x2", {.dp_replicate = 2, .dp_shard = 2}},
    {"tp 2", {.dp_shard = 1, .tp = 2}},
    {"tp 2, dp_shard 2", {.dp_shard = 2, .tp = 2}},
    {"cp 2, dp_shard 2", {.dp_shard = 2, .cp = 2}},
};

template <typename T>
bool says(const Result<T>& result, const std::string& what) {
  if (result) return false;
  if (result.error().message.find(what) != std::string::npos) return true;
  qWarning("%s", result.error().message.c_str());
  return false;
}

}  // namespace

class CheckpointTest : public QObject {
  Q_OBJECT

  std::unique_ptr<QTemporaryDir> folder_;
  std::string folder() { return folder_->path().toStdString(); }
  std::string step(int64_t step) { return folder() + "/" + checkpoint::step_folder(step); }

  std::string saved(const recipe::Recipe& recipe, int64_t at) {
    if (const auto done = small::save(folder(), at, recipe); !done)
      qWarning("%s", done.error().message.c_str());
    return step(at);
  }

  void rewrite(const std::string& path, const std::function<void(checkpoint::Manifest&)>& change) {
    const std::string file = path + "/manifest.json";
    auto manifest = checkpoint::parse_manifest(read_file(file));
    QVERIFY(manifest.has_value());
    change(*manifest);
    write_file(file, checkpoint::to_text(*manifest));
  }

 private Q_SLOTS:
  void init() { folder_ = std::make_unique<QTemporaryDir>(); }

  void any_layout_reads_what_any_other_wrote() {
    for (const Named& from : kLayouts) {
      const auto saved = small::save(folder(), 10, small::recipe_of(from.layout));
      QVERIFY2(saved.has_value(), from.name);
      for (const Named& to : kLayouts) {
        const auto loaded = small::load(step(10), small::recipe_of(to.layout));
        QVERIFY2(loaded.has_value(), loaded ? "" : loaded.error().message.c_str());
      }
      fs::remove_all(step(10));
    }
  }

  // A part of a shard is read in the pieces that were hashed, some of them by halves.
  void large_tensors_are_read_by_pieces() {
    constexpr int64_t kRows = 1000, kColumns = 3001;  // 11.4 MiB
    const holdings::Part part{"large", {kRows, 2 * kColumns}, {0, kRows, 0, kColumns}};
    const holdings::Part other{"large", {kRows, 2 * kColumns}, {0, kRows, kColumns, 2 * kColumns}};
    std::vector<float> piece;
    const auto source = [&](const holdings::Part& of, int64_t begin,
                            int64_t end) -> Result<std::span<const float>> {
      piece.clear();
      for (int64_t i = begin; i < end; ++i)
        piece.push_back(
            static_cast<float>(i / kColumns * 2 * kColumns + of.box.column_begin + i % kColumns));
      return std::span<const float>(piece);
    };
    checkpoint::Manifest manifest;
    manifest.recipe = small::recipe_of();
    for (const auto& each : {part, other}) {
      auto written = checkpoint::write_rank_file(folder(), std::to_string(each.box.column_begin),
                                                 {each}, source);
      QVERIFY(written.has_value());
      manifest.contents.add(std::move(*written));
    }
    write_file(folder() + "/manifest.json", checkpoint::to_text(manifest));
    const auto opened = checkpoint::Checkpoint::open(folder());
    QVERIFY2(opened.has_value(), opened ? "" : opened.error().message.c_str());
    for (const holdings::Box& box : {holdings::Box{0, kRows, 0, 2 * kColumns},
                                     {3, 777, 0, kColumns},
                                     {999, 1000, 5, 6},
                                     {200, 700, 2999, 3100},
                                     {0, 350, 0, kColumns}}) {
      std::vector<float> numbers(static_cast<size_t>(box.rows() * box.columns()));
      QVERIFY(opened->read("large", box, numbers.data()).has_value());
      size_t i = 0;
      for (int64_t row = box.row_begin; row < box.row_end; ++row)
        for (int64_t column = box.column_begin; column < box.column_end; ++column, ++i)
          if (numbers[i] != static_cast<float>(row * 2 * kColumns + column))
            QFAIL(qPrintable(QString("row %1, column %2").arg(row).arg(column)));
    }
  }

  void every_flipped_byte_is_found() {
    QVERIFY(small::save(folder(), 10, small::recipe_of({.dp_shard = 2})).has_value());
    const size_t stride = qEnvironmentVariableIsSet("HEDDLE_ALL") ? 1 : 29;
    int tried = 0;
    for (const auto& entry : fs::directory_iterator(step(10))) {
      const std::string path = entry.path(), whole = read_file(path);
      for (size_t at = 0; at < whole.size(); at += stride) {
        std::string damaged = whole;
        damaged[at] = static_cast<char>(damaged[at] ^ (1 << (at % 8)));
        write_file(path, damaged);
        const auto loaded = small::load(step(10), small::recipe_of());
        if (loaded || loaded.error().message.find("wrong numbers") != std::string::npos)
          QFAIL(qPrintable(QString("byte %1 of %2").arg(at).arg(path.c_str())));
        ++tried;
      }
      write_file(path, whole);
    }
    QVERIFY(small::load(step(10), small::recipe_of()).has_value());
    qInfo("%d bytes tried", tried);
  }

  void what_is_wrong_is_named() {
    const auto recipe = small::recipe_of({.dp_shard = 2});
    const std::string manifest = step(10) + "/manifest.json";
    QVERIFY(small::save(folder(), 10, recipe).has_value());
    const std::string whole = read_file(manifest);

    for (const size_t size : {size_t{0}, size_t{20}, whole.size() / 2, whole.size() - 1}) {
      write_file(manifest, whole.substr(0, size));
      QVERIFY(says(small::load(step(10), recipe), "manifest.json: cut short or damaged"));
    }
    fs::remove(manifest);
    QVERIFY(says(small::load(step(10), recipe), "manifest.json: cannot be read"));
    write_file(manifest, whole);

    auto other = recipe;
    other.model.n_layers = 3;
    QVERIFY(says(small::load(step(10), other),
                 "a checkpoint of another model: its n_layers is 2, the recipe's 3"));

    fs::rename(step(10) + "/rank-1.safetensors", step(10) + "/away");
    QVERIFY(says(small::load(step(10), recipe), "rank-1.safetensors: missing"));
    QVERIFY(says(small::load(step(10), recipe), "it was written on host"));
    fs::rename(step(10) + "/away", step(10) + "/rank-1.safetensors");
    const std::string shard = read_file(step(10) + "/rank-1.safetensors");
    write_file(step(10) + "/rank-1.safetensors", shard.substr(0, shard.size() - 4));
    QVERIFY(says(small::load(step(10), recipe), "rank-1.safetensors: damaged:"));
    write_file(step(10) + "/rank-1.safetensors", shard);

    rewrite(step(10), [](auto& m) { m.contents.tensors["norm.weight"].shards.pop_back(); });
    QVERIFY(
        says(small::load(step(10), recipe), "tensor \"norm.weight\": its shards have 7 numbers"));
    write_file(manifest, whole);
    rewrite(step(10), [](auto& m) { m.contents.tensors.erase("norm.weight"); });
    QVERIFY(says(small::load(step(10), recipe), "no tensor \"norm.weight\""));
    rewrite(step(10), [](auto& m) { m.format = checkpoint::kFormat + 1; });
    QVERIFY(says(small::load(step(10), recipe), "format 3, which a newer Heddle has written"));
  }

  // Each with a hash of its own that is right.
  void what_cannot_be_is_refused() {
    const auto recipe = small::recipe_of({.dp_shard = 2});
    QVERIFY(small::save(folder(), 10, recipe).has_value());
    const std::string file = step(10) + "/manifest.json", whole = read_file(file);
    using Change = std::function<void(checkpoint::Manifest&)>;
    const auto refused = [&](const char* what, const Change& change) {
      write_file(file, whole);
      rewrite(step(10), change);
      return says(small::load(step(10), recipe), what);
    };
    const std::string norm = "norm.weight";
    QVERIFY(refused("tensor \"norm.weight\": two shards have the same numbers: rows 0 to 7",
                    [&](auto& m) {
                      auto& shards = m.contents.tensors[norm].shards;
                      shards[1] = shards[0];
                    }));
    QVERIFY(refused("have the same bytes, from", [&](auto& m) {
      auto& shards = m.contents.tensors[norm].shards;
      shards[1].file = shards[0].file;
      shards[1].offset = shards[0].offset;
    }));
    for (const int64_t bytes : {int64_t{-1}, int64_t{1} << 40, INT64_MIN, INT64_MAX})
      QVERIFY(refused("rank-0.safetensors: ", [&](auto& m) {
        m.contents.files["rank-0.safetensors"].header_bytes = bytes;
      }));
    QVERIFY(refused("rank-0.safetensors: ",
                    [](auto& m) { m.contents.files["rank-0.safetensors"].bytes = -1; }));
    QVERIFY(refused("is no file of the folder", [](auto& m) { m.contents.files["../x"] = {}; }));
    for (const int64_t offset : {int64_t{-8}, int64_t{0}, INT64_MIN, INT64_MAX, INT64_MAX - 8})
      QVERIFY(refused("is not sound",
                      [&](auto& m) { m.contents.tensors[norm].shards[0].offset = offset; }));
    for (const int64_t size : {int64_t{-1}, INT64_MIN, INT64_MAX, int64_t{1} << 60})
      QVERIFY(refused("tensor \"norm.weight\": shape", [&](auto& m) {
        m.contents.tensors[norm].shape = {size, int64_t{1} << 20};
      }));
    for (const int64_t edge : {int64_t{-1}, int64_t{15}, INT64_MIN, INT64_MAX})
      for (const auto member : {&holdings::Box::row_begin, &holdings::Box::row_end,
                                &holdings::Box::column_begin, &holdings::Box::column_end})
        QVERIFY(refused("is not sound",
                        [&](auto& m) { m.contents.tensors[norm].shards[0].box.*member = edge; }));
    QVERIFY(refused("step -1", [](auto& m) { m.step = -1; }));
  }

  void numbers_that_no_integer_holds_are_refused() {
    QVERIFY(small::save(folder(), 10, small::recipe_of()).has_value());
    const std::string file = step(10) + "/manifest.json", whole = read_file(file);
    for (const char* number : {"1e999", "1e300", "9223372036854775808", "-1.5", "null", "[1]"}) {
      std::string text = whole;
      const size_t at = text.find("\"header_bytes\":") + 15;
      text.replace(at, text.find(',', at) - at, number);
      const size_t digits = std::string("{\"hash\":\"").size();
      std::fill_n(text.begin() + static_cast<std::ptrdiff_t>(digits), checkpoint::kHashDigits, '0');
      text.replace(digits, checkpoint::kHashDigits, checkpoint::hash_of(text));
      write_file(file, text);
      QVERIFY2(says(small::load(step(10), small::recipe_of()), "not a checkpoint's manifest: "),
               number);
    }
  }

  void the_newest_and_the_named_are_kept() {
    for (const int64_t s : {5, 10}) QVERIFY(small::save(folder(), s, small::recipe_of(), 3));
    fs::rename(step(5), folder() + "/step-5-best");
    fs::create_directory(folder() + "/mine");
    fs::create_directory(folder() + "/step-7.partial");
    for (const int64_t s : {15, 20, 100}) QVERIFY(small::save(folder(), s, small::recipe_of(), 2));
    QCOMPARE(checkpoint::checkpoints_in(folder()),
             (std::vector<std::string>{"step-100", "step-20", "step-5-best"}));
    QVERIFY(fs::exists(folder() + "/mine"));
    QVERIFY(checkpoint::remove_partials(folder()).has_value());
    QVERIFY(!fs::exists(folder() + "/step-7.partial"));
    QVERIFY(checkpoint::set_aside(step(100)).has_value());
    QCOMPARE(small::newest_whole(folder()), int64_t{20});
    for (const char* no : {"step-", "step-x", "step-1.partial", "step-1.damaged", "step-1-",
                           "step-1-a.partial", "step--1", "other-1"})
      QVERIFY2(!checkpoint::step_of(no), no);
  }

  void hugging_face_folders_come_back_as_they_were() {
    for (const char* fixture : {"llama-tiny", "llama-tiny-scaled-rope-tied"}) {
      const std::string from = kReferences + fixture, ours = folder() + "/ours-" + fixture,
                        back = folder() + "/back-" + fixture;
      const auto there = checkpoint::convert(from, ours);
      QVERIFY2(there.has_value(), there ? "" : there.error().message.c_str());
      const auto again = checkpoint::convert(ours, back);
      QVERIFY2(again.has_value(), again ? "" : again.error().message.c_str());
      const auto before = checkpoint::HuggingFaceCheckpoint::open(from);
      const auto after = checkpoint::HuggingFaceCheckpoint::open(back);
      QVERIFY(before && after);
      QVERIFY(before->model() == after->model());
      for (const holdings::Parameter& parameter : before->parameters()) {
        std::vector<float> a(static_cast<size_t>(parameter.rows() * parameter.columns())), b(a);
        QVERIFY(before->read_rows(parameter.name(), 0, parameter.rows(), a.data()).has_value());
        QVERIFY(after->read_rows(parameter.name(), 0, parameter.rows(), b.data()).has_value());
        QCOMPARE(a, b);
      }
      QVERIFY(says(checkpoint::convert(from, ours), "exists already"));
    }
    QVERIFY(says(checkpoint::convert(folder() + "/nowhere", folder() + "/to"), "config.json"));
    QVERIFY(!fs::exists(folder() + "/to") && !fs::exists(folder() + "/to.partial"));
  }

  void settings_come_back_with_the_weights() {
    const std::string from = folder() + "/source", ours = folder() + "/ours",
                      back = folder() + "/back", later = folder() + "/later";
    fs::create_directories(from + "/additional_chat_templates");
    for (const char* name : {"config.json", "generation_config.json", "model.safetensors"})
      fs::copy_file(kReferences + "llama-tiny/" + name, from + '/' + name);
    const std::map<std::string, std::string> settings = {
        {"tokenizer.json", R"({"version": "1.0"})"},
        {"tokenizer_config.json", R"({"pad_token": "<pad>", "model_max_length": 1e30})"},
        {"special_tokens_map.json", R"({"eos_token": {"content": "</s>"}})"},
        {"chat_template.jinja", "{{ bos_token }}"},
        {"additional_chat_templates/tools.jinja", "{{ tools }}"},
        {"tokenizer.model", std::string("\0\1", 2)}};
    for (const auto& [name, text] : settings) write_file(from + '/' + name, text);
    write_file(from + "/README.md", "# of the source's weights");
    QVERIFY(checkpoint::convert(from, ours).has_value());
    QCOMPARE(*checkpoint::companions_of(from), from);
    QCOMPARE(*checkpoint::companions_of(ours), ours + "/hugging_face");

    // A run that began with them, and one that began with that run's checkpoint.
    recipe::Recipe recipe = small::recipe_of();
    QVERIFY(checkpoint::companions_of(saved(recipe, 10))->empty());
    recipe.model.checkpoint = ours;
    recipe.model.checkpoint = saved(recipe, 20);
    QCOMPARE(*checkpoint::companions_of(saved(recipe, 30)), ours + "/hugging_face");

    checkpoint::Export how{.source = ours + "/hugging_face"};
    const auto copied = [&](const std::string& to) {
      return checkpoint::copy_tokenizer(how.source, to);
    };
    QVERIFY(checkpoint::convert(ours, back, how, copied).has_value());
    for (const auto& [name, text] : settings) QCOMPARE(read_file(back + '/' + name), text);
    QVERIFY(!fs::exists(back + "/README.md"));
    const auto json_of = [](const std::string& path) {
      return nlohmann::json::parse(read_file(path));
    };
    QVERIFY(json_of(back + "/generation_config.json") == json_of(from + "/generation_config.json"));
    nlohmann::json config = json_of(from + "/config.json");
    config.update({{"torch_dtype", "float32"}, {"rope_theta", 500000.0}});
    QVERIFY(json_of(back + "/config.json") == config);

    // A missing file is named; a file that never ends is refused.
    fs::rename(ours, later);
    QVERIFY(says(checkpoint::companions_of(step(30)), ours + " is not here"));
    fs::remove(from + "/chat_template.jinja");
    QCOMPARE(mkfifo((from + "/chat_template.jinja").c_str(), 0600), 0);
    QVERIFY(says(checkpoint::convert(from, ours), "chat_template.jinja: cannot be read"));
    QVERIFY(!fs::exists(ours));
  }

  void a_runs_folder_is_no_checkpoint_but_its_newest_is_named() {
    QVERIFY(small::save(folder(), 10, small::recipe_of()).has_value());
    const auto opened = checkpoint::Weights::open(folder(), small::recipe_of().model);
    QVERIFY(!opened);
    QVERIFY(opened.error().message.ends_with("valid: " + step(10)));
    // To be converted, one of it is all that can be meant.
    QVERIFY(small::save(folder(), 20, small::recipe_of()).has_value());
    QCOMPARE(checkpoint::checkpoint_meant(folder()), step(20));
    QCOMPARE(checkpoint::checkpoint_meant(step(10)), step(10));
    const auto done = checkpoint::convert(folder(), folder() + "/exported");
    QVERIFY2(done.has_value(), done ? "" : done.error().message.c_str());
    QVERIFY(fs::exists(folder() + "/exported/config.json"));
  }
};

HEDDLE_TEST(CheckpointTest)
#include "checkpoint_test.moc"
