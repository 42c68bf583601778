// The recipe being composed, without a window.
#include "gui/models/recipe_document.h"

#include <QFile>
#include <QSignalSpy>
#include <QTemporaryDir>
#include <QTest>

#include "gui/models/tokenizer_size.h"
#include "tests/support/test_class.h"

using namespace heddle::gui;

namespace {

const QString kCommented = QStringLiteral(
    "[model]\n"
    "preset = \"llama3-debug\"  # small\n"
    "[data]\n"
    "text = [\"corpus.txt\"]\n"
    "tokenizer = \"tokenizer.json\"\n"
    "[training]\n"
    "steps = 10\n");

QString contents(const QString& path) {
  QFile file(path);
  return file.open(QIODevice::ReadOnly) ? QString::fromUtf8(file.readAll()) : QString();
}

}  // namespace

class RecipeDocumentTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void values_are_written_preset_or_default() {
    RecipeDocument document;
    document.load("small", kCommented, {});
    QCOMPARE(document.value("training.steps"), QString("10"));
    QCOMPARE(document.value("model.dim"), QString("256"));
    QCOMPARE(document.value("optimizer.lr"), QString("3e-4"));
    QVERIFY(document.isWritten("training.steps"));
    QVERIFY(!document.isWritten("model.dim"));
    QVERIFY(document.canTrain());
    QVERIFY(!document.isEdited());
  }

  void a_key_is_edited_in_the_text() {
    RecipeDocument document;
    document.load("small", kCommented, {});
    QSignalSpy changed(&document, &RecipeDocument::changed);
    document.setKey("training.steps", "20");
    QCOMPARE(document.text(), QString(kCommented).replace("steps = 10", "steps = 20"));
    QCOMPARE(changed.count(), 1);
    QVERIFY(document.isEdited());
    document.setKey("model.dim", "256");  // the preset's: nothing to write
    QVERIFY(!document.text().contains("dim"));
    document.setKey("model.dim", "512");
    QVERIFY(document.text().contains("preset = \"llama3-debug\"  # small\ndim = 512\n"));
  }

  void edits_of_one_field_are_undone_together() {
    RecipeDocument document;
    document.load("small", kCommented, {});
    for (const char* steps : {"1", "12", "123"}) document.setKey("training.steps", steps);
    document.setKey("optimizer.lr", "1e-3");
    document.setKey("training.steps", "5");
    document.endEdit();
    document.setKey("training.steps", "6");
    QCOMPARE(document.history()->count(), 4);
    document.history()->undo();
    QCOMPARE(document.value("training.steps"), QString("5"));
    document.history()->undo();
    QCOMPARE(document.value("training.steps"), QString("123"));
    document.history()->undo();
    document.history()->undo();
    QCOMPARE(document.text(), kCommented);
    QVERIFY(!document.isEdited());
    document.history()->redo();
    QCOMPARE(document.value("training.steps"), QString("123"));
  }

  void history_and_changes_tell_values() {
    RecipeDocument document;
    document.load("small", kCommented, {});
    QVERIFY(document.unsavedChanges().isEmpty());
    for (const char* steps : {"2", "25"}) document.setKey("training.steps", steps);
    QCOMPARE(document.history()->undoText(), QString("steps 10 → 25"));
    document.setKeys({{"model.preset", "\"llama3-8b\""}}, "preset");
    QCOMPARE(document.history()->undoText(), QString("preset llama3-debug → llama3-8b"));
    // Not what the other preset brings along.
    QCOMPARE(document.unsavedChanges(),
             (QStringList{"model.preset  llama3-debug → llama3-8b", "training.steps  10 → 25"}));
    document.setKey("data.text", "[\"other.txt\"]");
    QCOMPARE(document.history()->undoText(), QString("text corpus.txt → other.txt"));
    document.history()->undo();
    document.setText(document.text() + "# a word");
    QCOMPARE(document.history()->undoText(), QString("typing in line 8"));
    for (int i = 0; i < 3; ++i) document.history()->undo();
    QVERIFY(document.unsavedChanges().isEmpty());
    document.setText(kCommented + "# only words");
    QVERIFY(document.isEdited() && document.unsavedChanges().isEmpty());
    document.setText(
        kCommented +
        "[wrapping]\nbuckets = [[\"tok_embeddings\", \"layers.0\"], [\"norm\"], "
        "[\"output\"]]\n[[override]]\nmodules = [\"layers.0\"]\nrecompute = \"full\"\n");
    QCOMPARE(document.unsavedChanges(),
             (QStringList{"wrapping.buckets  – → 3 entries", "override  – → one entry"}));
  }

  void typing_merges_by_line_and_shares_the_history() {
    RecipeDocument document;
    document.load("small", kCommented, {});
    QString text = kCommented;
    for (const QChar c : QStringLiteral("seed")) document.setText(text += c);
    QCOMPARE(document.history()->count(), 1);
    QVERIFY(!document.isReadable());
    for (const QChar c : QStringLiteral(" = 3")) document.setText(text += c);
    QVERIFY(document.isReadable());
    QCOMPARE(document.value("training.seed"), QString("3"));
    QCOMPARE(document.history()->count(), 1);
    document.setText(text += QChar('\n'));
    QCOMPARE(document.history()->count(), 2);
    document.setKey("training.steps", "11");
    document.setText(QString(document.text()).replace("corpus.txt", "other.txt"));
    QCOMPARE(document.history()->count(), 4);
    for (int i = 0; i < 4; ++i) document.history()->undo();
    QCOMPARE(document.text(), kCommented);
  }

  void a_broken_text_keeps_the_last_values() {
    RecipeDocument document;
    document.load("small", kCommented, {});
    document.setText(kCommented + "[oops");
    QVERIFY(!document.isReadable());
    QCOMPARE(document.faults().size(), size_t{1});
    QCOMPARE(document.faults()[0].line, 8);
    QCOMPARE(document.value("training.steps"), QString("10"));
    QSignalSpy refused(&document, &RecipeDocument::refused);
    document.setKey("training.steps", "20");
    QCOMPARE(refused.count(), 1);
    QCOMPARE(document.text(), kCommented + "[oops");
  }

  void faults_and_what_train_cannot_do() {
    RecipeDocument document;
    document.load("small", kCommented, {});
    document.setKey("parallelism.tp", "3");
    QCOMPARE(document.faults().size(), size_t{1});
    QCOMPARE(QString::fromStdString(document.faults()[0].key), QString("parallelism.tp"));
    QVERIFY(!document.canTrain());
    document.setKey("parallelism.tp", "2");
    QVERIFY(document.faults().empty() && document.unsupported().empty());
    document.setKey("hardware.ranks", "8");
    document.setKey("wrapping.reshard_after_forward", "2");
    QVERIFY(document.faults().empty());
    QCOMPARE(document.unsupported().size(), size_t{1});
    QVERIFY(!document.canTrain());
  }

  void a_checkpoint_names_the_model() {
    RecipeDocument document;
    document.load("tiny",
                  QString(kCommented)
                      .replace("preset = \"llama3-debug\"  # small", "checkpoint = \"llama-tiny\"")
                      .replace("[training]", "seq_len = 32\n[training]"),
                  HEDDLE_SOURCE_DIR "/tests/fixtures/reference/tiny.toml");
    QVERIFY(!document.canTrain());  // it is being read
    QSignalSpy changed(&document, &RecipeDocument::changed);
    QVERIFY(changed.wait());
    QVERIFY2(document.canTrain(),
             document.faults().empty() ? "" : document.faults()[0].str().c_str());
    QCOMPARE(document.value("model.dim"), QString("64"));
    QCOMPARE(document.value("model.checkpoint"), QString("\"llama-tiny\""));
    QCOMPARE(document.resolved().recipe.model.n_layers, int64_t{2});
    document.setKey("model.checkpoint", "\"nowhere\"");
    QTRY_VERIFY(!document.files().isReading());
    QCOMPARE(document.faults().size(), size_t{1});
    QCOMPARE(QString::fromStdString(document.faults()[0].key), QString("model.checkpoint"));
    document.history()->undo();
    QVERIFY(document.canTrain());
  }

  void saving() {
    QTemporaryDir folder;
    const QString path = folder.filePath("a.toml");
    RecipeDocument document;
    document.load("a", kCommented, path);
    document.setKey("training.steps", "11");
    QVERIFY(document.save().has_value());
    QVERIFY(!document.isEdited());
    QCOMPARE(contents(path), document.text());
    RecipeDocument again;
    QVERIFY(again.open(path).has_value());
    QCOMPARE(again.text(), document.text());
    QCOMPARE(again.name(), QString("a"));
    QVERIFY(!again.open(folder.filePath("none.toml")).has_value());
    document.load("a", kCommented, folder.filePath("no/folder/a.toml"));
    QVERIFY(!document.save().has_value());
  }

  void saving_elsewhere_keeps_what_paths_name() {
    QTemporaryDir folder;
    QDir(folder.path()).mkdir("other");
    RecipeDocument document;
    document.load("a", kCommented, folder.filePath("a.toml"));
    QVERIFY(document.saveAs(folder.filePath("other/b.toml")).has_value());
    QCOMPARE(document.value("data.text"), "[\"" + folder.filePath("corpus.txt") + "\"]");
    QCOMPARE(document.value("data.tokenizer"), "\"" + folder.filePath("tokenizer.json") + "\"");
    QCOMPARE(document.value("model.checkpoint"), QString("\"\""));
    QVERIFY(!document.isEdited());
    QCOMPARE(contents(folder.filePath("other/b.toml")), document.text());
  }

  void unsaved_text_survives() {
    QTemporaryDir folder;
    const QString kept = folder.filePath("state/unsaved.json");
    {
      RecipeDocument document;
      QVERIFY(!document.keepUnsavedIn(kept));
      document.load("small", kCommented, "/somewhere/small.toml");
      document.setKey("training.steps", "99");
      QTRY_VERIFY(QFile::exists(kept));  // written while the program runs, not when it ends
      RecipeDocument crashed;
      QVERIFY(crashed.keepUnsavedIn(kept));
      QCOMPARE(crashed.text(), document.text());
      QCOMPARE(crashed.file(), QString("/somewhere/small.toml"));
      QVERIFY(crashed.isEdited());
      document.history()->undo();
    }
    QVERIFY(!QFile::exists(kept));  // nothing unsaved is left
  }

  void a_damaged_autosave_is_ignored() {
    QTemporaryDir folder;
    QFile kept(folder.filePath("unsaved.json"));
    QVERIFY(kept.open(QIODevice::WriteOnly));
    kept.write("{\"text\": \"cut sho");
    kept.close();
    QVERIFY(!RecipeDocument().keepUnsavedIn(kept.fileName()));
  }

  void tokenizer_sizes() {
    QCOMPARE(tokenizerSize(HEDDLE_SOURCE_DIR "/resources/data/tokenizer.json"), qint64{4096});
    QCOMPARE(tokenizerSize(HEDDLE_SOURCE_DIR "/README.md"), qint64{0});
    QCOMPARE(tokenizerSize("nowhere.json"), qint64{0});
  }
};

HEDDLE_TEST(RecipeDocumentTest)
#include "recipe_document_test.moc"
