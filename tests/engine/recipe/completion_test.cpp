// Completions in a recipe's text, and the key at a position in it.
#include "engine/recipe/completion.h"

#include <QtTest>

#include "engine/recipe/members.h"
#include "tests/support/test_class.h"

using namespace heddle::recipe;

namespace {

const std::vector<Candidate> kHardwareNames = {{"this-machine", "calibrated"},
                                               {"h100-sxm", "8 × H100"}};

/// The completion where the text has "|".
Completion at_bar(QString text) {
  const auto cursor = text.left(text.indexOf('|')).toUtf8().size();
  text.remove(text.indexOf('|'), 1);
  return complete(text.toStdString(), static_cast<size_t>(cursor), kHardwareNames);
}

QStringList texts(const Completion& completion) {
  QStringList found;
  for (const Candidate& one : completion.candidates) found << QString::fromStdString(one.text);
  return found;
}

}  // namespace

class CompletionTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void what_may_come_next_data() {
    QTest::addColumn<QString>("text");
    QTest::addColumn<QStringList>("first");
    const auto row = [](const char* text, const QStringList& first) {
      QTest::newRow(text) << text << first;
    };
    row("[trai|", {"[training]"});
    row("[[o|", {"[[override]]"});
    row("tra|", {"[training]"});
    row("[model]\n|", {"preset = ", "dim = ", "n_layers = "});
    row("[model]\ndim = 8\n|", {"preset = ", "n_layers = "});
    row("[model]\nn_|", {"n_layers = ", "n_heads = ", "n_kv_heads = "});
    row("[model]\nn_l| = 4", {"n_layers"});
    row("[training]\nbatch|", {"local_batch = ", "global_batch = "});
    row("[training]\nstpes|", {"steps = "});
    row("[training]\nseed = 1\n[data]\nsee|", {"seed = "});
    row("training.st|", {"training.steps = "});
    row("steps|", {"training.steps = "});
    row("[wrapping]\nmode = |", {"\"auto\"", "\"layers\"", "\"manual\"", "\"none\""});
    row("[wrapping]\nmode = \"l|\"", {"\"layers\""});
    row("[wrapping]\nmode = lay|", {"\"layers\""});
    row("[model]\ntied_embeddings = |", {"true", "false"});
    row("[hardware]\nname = \"h1|", {"\"h100-sxm\""});
    row("[training]\nsteps = |", {"100"});
    row("[checkpoint]\nevery = |", {"0"});
    row("[optimizer]\nname = \"sgd\"\nm|", {"momentum = "});
    row("[model]\nrope_scaling = { | }", {"type = ", "factor = "});
    row("[model]\nrope_scaling = { factor = 4, t| }", {"type = ", "truncate = "});
    row("[model]\nrope_scaling = { type = | }", {"\"llama3\"", "\"linear\"", "\"yarn\""});
    row("[model.rope_scaling]\nbeta|", {"beta_fast = ", "beta_slow = "});
    row("[[override]]\n|", {"modules = ", "recompute = ", "lr = ", "weight_decay = "});
    row("[[override]]\nlr = 1\n[[override]]\nl|", {"lr = "});
    row("[[override]]\nrecompute = |", {"\"none\"", "\"full\""});
    row("[data]\nmix = [{ text = [\"a\"], weight = 2 }, { te| }]", {"text = "});
    // A list that is never closed ends where something else begins.
    row("[data]\ntext = [\"a\",\n[training]\nste|", {"steps = "});
  }

  void what_may_come_next() {
    QFETCH(QString, text);
    QFETCH(QStringList, first);
    QCOMPARE(texts(at_bar(text)).mid(0, first.size()), first);
  }

  void nothing_may_come_there_data() {
    QTest::addColumn<QString>("text");
    for (const char* text :
         {"# tra|", "[model]  # d|", "[training]\nsteps = 5 |", "[training]\nsteps = 5 # m|",
          "[training]\nsteps |", "[wrapping]\nmode = \"auto\" |", "[data]\ntext = [\"a|\"]",
          "[training]\nunknown_key = |", "[model]\nrope_scaling = { factor = 4 | }"})
      QTest::newRow(text) << text;
  }

  void nothing_may_come_there() {
    QFETCH(QString, text);
    QCOMPARE(texts(at_bar(text)), QStringList());
  }

  void tables_and_keys_that_are_written_are_not_offered() {
    const QStringList next =
        texts(at_bar("[model]\n[[override]]\n[training]\nsteps = 1\nseed = 2\n|"));
    QVERIFY(!next.contains("steps = ") && !next.contains("seed = ") && !next.contains("[model]"));
    QVERIFY(next.contains("max_norm = ") && next.contains("[[override]]") &&
            next.contains("[data]"));
    // Another optimizer's keys.
    QVERIFY(!texts(at_bar("[optimizer]\n|")).contains("momentum = "));
  }

  void a_candidate_takes_the_place_of_the_whole_piece() {
    const Completion word = at_bar("[wrapping]\nmode = \"la|yers\"  # why\n");
    QCOMPARE(word.piece.at, size_t{18});
    QCOMPARE(word.piece.length, size_t{8});
    QCOMPARE(word.typed, std::string("la"));
    QVERIFY(word.enumerated);
    QVERIFY(!at_bar("[training]\nsteps = 1|0").enumerated);
    QCOMPARE(at_bar("[trai|ning]\n").piece.length, size_t{10});
  }

  void a_value_says_what_it_means() {
    const Completion mode = at_bar("[wrapping]\nmode = |");
    QCOMPARE(mode.candidates[0].detail, std::string("auto: as the plan decides; default"));
    QCOMPARE(mode.candidates[0].info, find_key("wrapping.mode"));
    QCOMPARE(at_bar("[checkpoint]\nevery = |").candidates[0].detail, std::string("default: off"));
    QCOMPARE(at_bar("[hardware]\nname = |").candidates[1].detail, std::string("8 × H100"));
  }

  void the_key_at_a_place_data() {
    QTest::addColumn<QString>("text");
    QTest::addColumn<QString>("key");
    const auto row = [](const char* text, const char* key) { QTest::newRow(text) << text << key; };
    row("[training]\nst|eps = 10", "training.steps");
    row("[training]\nsteps = 1|0", "training.steps");
    row("[over|ride]", "override");
    row("[model]\nrope_scaling = { fac|tor = 4 }", "model.rope_scaling.factor");
    row("model.dim = 1|28", "model.dim");
    row("[tra|ining]", "");
    row("# st|eps", "");
    row("[training]\nstpes| = 1", "");
  }

  void the_key_at_a_place() {
    QFETCH(QString, text);
    const auto place = static_cast<size_t>(text.indexOf('|'));
    text.remove('|');
    const KeyInfo* info = key_at(text.toStdString(), place);
    QTEST(info == nullptr ? QString() : QString::fromStdString(info->key), "key");
  }

  void any_text_can_be_completed_anywhere() {
    const std::string letters = "[]{}=\"'#,.\n\\ \tab1-modelsteps";
    uint32_t seed = 7;
    const auto next = [&](size_t below) {
      return (seed = seed * 1664525 + 1013904223) / 65536 % below;
    };
    for (int round = 0; round < 300; ++round) {
      std::string text = round % 2 == 0 ? "[model]\n" : "";
      for (size_t left = next(40); left > 0; --left) text += letters[next(letters.size())];
      for (size_t cursor = 0; cursor <= text.size(); ++cursor) {
        const Completion completion = complete(text, cursor);
        QVERIFY(completion.piece.at <= cursor && completion.piece.end() <= text.size());
        (void)key_at(text, cursor);
      }
    }
  }

  void brackets_within_brackets_take_no_stack() {
    for (const char* bracket : {"[", "{", "[{a="}) {
      std::string text = "a = ";
      for (int i = 0; i < 100'000; ++i) text += bracket;
      QVERIFY(complete(text, text.size()).candidates.empty());
      QVERIFY(key_at(text, text.size() / 2) == nullptr);
    }
  }

  void every_key_is_explained() {
    QStringList without;
    const auto look = [&](const KeyInfo& info) {
      if (info.help.size() < 10 || !(info.help.ends_with('.')) || info.label.empty())
        without << QString::fromStdString(info.key);
    };
    for (const KeyInfo& info : keys()) {
      look(info);
      for (const KeyInfo& member : members_of(info.key)) look(member);
    }
    QCOMPARE(without, QStringList());
  }

  void members_are_what_the_parser_reads() {
    const Parsed parsed = parse(
        "[[override]]\nmodules = [\"layers.0\"]\nrecompute = \"full\"\nlr = 1e-4\n"
        "weight_decay = 0.0\n[data]\nmix = [{ text = [\"a\"], weight = 2.0 }]\n"
        "[model.rope_scaling]\ntype = \"yarn\"\nfactor = 4.0\noriginal_max_position = 8192\n"
        "beta_fast = 32.0\nbeta_slow = 1.0\nattention_factor = 0.0\ntruncate = true\n",
        "r.toml");
    QVERIFY(parsed.ok());
    const Parsed other =
        parse("[model.rope_scaling]\nlow_freq_factor = 1.0\nhigh_freq_factor = 4.0\n", "r.toml");
    QVERIFY(other.ok());
    for (const char* table : {"override", "data.mix", "model.rope_scaling"})
      for (const KeyInfo& member : members_of(table)) {
        const auto written = [&](const Parsed& in) {
          return std::ranges::any_of(in.places, [&](const auto& place) {
            std::string key = place.first;
            if (const size_t index = key.find('['); index != std::string::npos)
              key.erase(index, key.find(']') - index + 1);
            return key == member.key;
          });
        };
        QVERIFY2(written(parsed) || written(other), member.key.c_str());
      }
  }
};

HEDDLE_TEST(CompletionTest)
#include "completion_test.moc"
