// The data of a recipe at a glance, as heddle-engine describes it: before it is tokenized and
// after, with boundaries, as a mix; what is wrong with it, and with the engine.
#include "gui/views/data/data_view.h"

#include <QFile>
#include <QTemporaryDir>
#include <QTest>
#include <QToolButton>

#include "engine/data/corpus.h"
#include "engine/recipe/parse.h"
#include "gui/theme/theme.h"
#include "tests/support/test_class.h"

using namespace heddle;
using namespace heddle::gui;

namespace {

constexpr int kLong = 60000;
const QString kEngine = QStringLiteral(HEDDLE_BINARY_DIR "/heddle-engine");
const QString kData = QStringLiteral(HEDDLE_SOURCE_DIR "/resources/data/");

/// A view of a recipe in a folder of its own.
struct Shown {
  explicit Shown(const QString& engine = kEngine, int patience = DataDescription::kPatience)
      : description(engine, patience), view(description) {
    view.resize(400, 400);
    view.show();
  }
  QString put(const QString& name, const QByteArray& text) const {
    QFile file(folder.filePath(name));
    if (!file.open(QIODevice::WriteOnly) || file.write(text) != text.size()) qFatal("no disk");
    return file.fileName();
  }
  QString recipeOf(const QString& data) const {
    return QStringLiteral(
               "[model]\npreset = 'llama3-debug'\n[data]\n%1\ntokenizer = '%2tokenizer.json'\n"
               "cache = '%3'\nseq_len = 64\n[training]\nsteps = 100\nlocal_batch = 4\n")
        .arg(data, kData, folder.filePath("cache"));
  }
  void ask(const QString& data) {
    description.ask({recipeOf(data), folder.filePath("recipe.toml"), {}});
    if (!QTest::qWaitFor([this] { return !description.isAsking(); }, kLong)) qFatal("no answer");
  }
  void tokenize(const QString& data) const {
    const auto parsed = recipe::resolve(recipe::parse(recipeOf(data).toStdString(), "recipe.toml"));
    if (!data::tokenize_corpus(parsed.recipe, {})) qFatal("not tokenized");
  }
  QString text(const char* name) const {
    const auto* label = view.findChild<QLabel*>(QLatin1String(name));
    return label->isVisible() ? label->text() : QString();
  }
  SampleText* sample() const { return view.findChild<SampleText*>(); }
  QToolButton* button(const char* name) const {
    return view.findChild<QToolButton*>(QLatin1String(name));
  }

  QTemporaryDir folder;
  DataDescription description;
  DataView view;
};

/// Short documents, each a line.
QByteArray lines(const QByteArray& about, int documents) {
  QByteArray text;
  for (int i = 0; i < documents; ++i)
    text += "{\"text\": \"" + about + ' ' + QByteArray::number(i) + " of the loom.\"}\n";
  return text;
}

}  // namespace

class DataViewTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void initTestCase() { Theme::install(Theme::Mode::dark); }

  void aTextIsToldBeforeItIsTokenizedAndAfter() {
    Shown shown;
    QCOMPARE(shown.text("dataError"), QString("No data is named yet."));
    const QString text = "text = ['" + kData + "tinyshakespeare.txt']";
    shown.ask(text);
    QCOMPARE(shown.description.error(), QString());
    QCOMPARE(shown.text("dataDocuments"), QString("1"));
    const QString tokens = shown.text("dataTokens");
    QVERIFY2(tokens.size() == 7, qPrintable(tokens));  // "338,025"
    // 100 steps of 2 ranks' 4 sequences of 64 tokens.
    const double epochs = 51200.0 / QString(tokens).remove(',').toDouble();
    QVERIFY(std::abs(shown.text("dataEpochs").toDouble() - epochs) < 0.001);
    QVERIFY2(shown.text("dataOrigin").startsWith("Tokenized when the run starts"),
             qPrintable(shown.text("dataOrigin")));
    QVERIFY(shown.sample()->toPlainText().startsWith("<|begin_of_text|>First Citizen:"));
    shown.tokenize(text);
    shown.ask(text);
    QCOMPARE(shown.text("dataTokens"), tokens);
    QCOMPARE(shown.text("dataOrigin"),
             QString("Samples: the first that the run reads. Each document begins with "
                     "<|begin_of_text|> and ends with <|end_of_text|>."));
  }

  void aLargeTextIsAnEstimate() {
    Shown shown;
    shown.ask("text = ['" + shown.put("large.jsonl", lines("A document that is one", 120'000)) +
              "']");
    QVERIFY2(shown.text("dataTokens").startsWith(QString::fromUtf8("≈ ")),
             qPrintable(shown.text("dataTokens")));
    QVERIFY(shown.text("dataDocuments").startsWith(QString::fromUtf8("≈ 1")));
    QVERIFY(shown.text("dataOrigin").startsWith("Estimated"));
  }

  void documentsAreMarkedInASample() {
    Shown shown;
    shown.ask("text = ['" + shown.put("short.jsonl", lines("Document", 300)) + "']");
    const SampleText& sample = *shown.sample();
    QVERIFY(sample.marks().size() > 2);
    const QStringList text = sample.toPlainText().split('\n');
    for (const int mark : sample.marks()) {
      QCOMPARE(text[mark], QString::fromUtf8("▸ another document begins"));
      QVERIFY2(text[mark - 1].endsWith("<|end_of_text|>"), qPrintable(text[mark - 1]));
      QVERIFY2(text[mark + 1].startsWith("<|begin_of_text|>Document"), qPrintable(text[mark + 1]));
    }
    QCOMPARE(sample.extraSelections().size(), sample.marks().size());
  }

  void samplesFollowEachOther() {
    Shown shown;
    shown.ask("text = ['" + kData + "tinyshakespeare.txt']");
    const QString first = shown.sample()->toPlainText();
    QVERIFY(!shown.button("sampleBefore")->isEnabled());
    QTest::mouseClick(shown.button("sampleNext"), Qt::LeftButton);
    QVERIFY(shown.sample()->toPlainText() != first);
    QTest::mouseClick(shown.button("sampleNext"), Qt::LeftButton);
    QVERIFY(!shown.button("sampleNext")->isEnabled());
    auto* words = shown.view.findChild<ElidedLabel*>("sampleWords");
    QCOMPARE(words->fullText(), QString("sample 3 of 3: tinyshakespeare.txt, 64 tokens"));
  }

  void aMixIsABarWithARowForEachPart() {
    Shown shown;
    auto* mix = shown.view.findChild<MixView*>();
    shown.ask("mix = [{ text = ['" + kData + "tinyshakespeare.txt'], weight = 3 }, { text = ['" +
              shown.put("other.jsonl", lines("Document", 900)) + "'] }]");
    QCOMPARE(shown.description.error(), QString());
    QVERIFY(mix->isVisible());
    QCOMPARE(mix->findChild<StackedBar*>()->accessibleDescription(),
             QString("tinyshakespeare.txt 75.0 %, other.jsonl 25.0 %"));
    QCOMPARE(mix->findChildren<Swatch*>().size(), 2);
    QCOMPARE(shown.text("dataDocuments"), QString("901"));
    QVERIFY(shown.text("dataEpochs").contains(QString::fromUtf8("–")));
    shown.ask("text = ['" + kData + "tinyshakespeare.txt']");
    QVERIFY(!mix->isVisible());
  }

  void whatIsWrongWithTheDataIsSaid() {
    Shown shown;
    shown.ask("text = ['missing.txt']");
    QVERIFY2(shown.text("dataError")
                 .contains("data.text: " + shown.folder.filePath("missing.txt") + ": no such file"),
             qPrintable(shown.text("dataError")));
    shown.ask("text = ['" + shown.put("tiny.txt", "To be") + "']");
    QVERIFY2(shown.text("dataError").contains("valid: more text or shorter sequences"),
             qPrintable(shown.text("dataError")));
    shown.ask("text = [");
    QVERIFY2(shown.text("dataError").contains("recipe.toml:5:"),
             qPrintable(shown.text("dataError")));
    const QByteArray good = lines("Document", 900);
    shown.ask("text = ['" + shown.put("bad.jsonl", good + "{\"text\": 7}\n") + "']");
    QVERIFY2(shown.text("dataRemarks").startsWith("1 document cannot be read: ") &&
                 shown.text("dataRemarks").contains("bad.jsonl:901: "),
             qPrintable(shown.text("dataRemarks")));
  }

  void whatIsWrongWithTheEngineIsSaid() {
    Shown none("/nowhere/heddle-engine");
    none.ask("text = ['a.txt']");
    QVERIFY2(none.text("dataError").startsWith("the engine cannot be started"),
             qPrintable(none.text("dataError")));
    Shown slow;
    const QString endless = slow.put("endless", "#!/bin/sh\nexec sleep 600\n");
    QFile::setPermissions(endless, QFile::ReadOwner | QFile::ExeOwner | QFile::WriteOwner);
    Shown waits(endless, 300);
    waits.ask("text = ['a.txt']");
    QVERIFY2(waits.text("dataError").contains("could not be looked at within"),
             qPrintable(waits.text("dataError")));
  }

  /// The answer to a question that another has followed is not shown.
  void theNewestQuestionIsAnswered() {
    Shown shown;
    shown.description.ask(
        {shown.recipeOf("text = ['missing.txt']"), shown.folder.filePath("recipe.toml"), {}});
    QTest::qWait(250);  // it is being answered
    shown.ask("text = ['" + kData + "tinyshakespeare.txt']");
    QCOMPARE(shown.description.error(), QString());
    QCOMPARE(shown.text("dataDocuments"), QString("1"));
  }
};

HEDDLE_WIDGET_TEST(DataViewTest)
#include "data_view_test.moc"
