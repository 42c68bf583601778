// The Compose page without a window around it, driven as a user drives it.
#include "gui/views/compose/compose_view.h"

#include <QComboBox>
#include <QLabel>
#include <QLineEdit>
#include <QListWidget>
#include <QPlainTextEdit>
#include <QSignalSpy>
#include <QSpinBox>
#include <QTest>
#include <QTextBlock>
#include <QToolButton>

#include "gui/format.h"
#include "gui/theme/theme.h"
#include "gui/views/compose/bucket_bands.h"
#include "gui/views/compose/exposed_folds.h"
#include "gui/views/compose/mesh_view.h"
#include "gui/views/compose/prediction_words.h"
#include "gui/widgets/segment.h"
#include "tests/support/test_class.h"

using namespace heddle;
using namespace heddle::gui;

namespace {

const QString kText = QStringLiteral(
    "# mine\n"
    "[model]\n"
    "preset = \"llama3-debug\"\n"
    "n_layers = 4\n"
    "[data]\n"
    "text = [\"corpus.txt\"]\n"
    "tokenizer = \"tokenizer.json\"\n"
    "[training]\n"
    "steps = 10  # few\n"
    "[hardware]\n"
    "ranks = 8\n");

}  // namespace

class ComposeViewTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void initTestCase() { Theme::install(Theme::Mode::dark); }

  void init() {
    document_ = std::make_unique<RecipeDocument>();
    document_->load("mine", kText, {});
    planner_ = std::make_unique<PlanClient>(QStringLiteral(HEDDLE_BINARY_DIR "/heddle-engine"));
    prediction_ = std::make_unique<RecipePrediction>(*document_, *planner_);
    view_ = std::make_unique<ComposeView>(*document_, *prediction_);
    view_->resize(1536, 924);
    view_->show();
    QVERIFY(QTest::qWaitForWindowActive(view_.get()));
  }

  void cleanup() {
    view_.reset();
    prediction_.reset();
    planner_.reset();
    document_.reset();
  }

  void a_number_typed_into_a_field_is_in_the_text() {
    auto* steps = field<QSpinBox>("training.steps");
    QCOMPARE(steps->value(), 10);
    retype(steps, "250");
    QVERIFY(text().contains("steps = 250  # few\n"));
    QCOMPARE(document_->history()->count(), 1);
    document_->history()->undo();
    QCOMPARE(text(), kText);
    QCOMPARE(steps->value(), 10);
    document_->history()->redo();
    QCOMPARE(steps->value(), 250);
  }

  void text_typed_is_in_the_fields() {
    auto* editor = field<QPlainTextEdit>("recipeText");
    editor->setFocus();
    editor->moveCursor(QTextCursor::End);
    QTest::keyClicks(editor, "[optimizer]");
    QTest::keyClick(editor, Qt::Key_Return);
    QTest::keyClicks(editor, "lr = 0.5");
    QCOMPARE(field<QDoubleSpinBox>("optimizer.lr")->text(), QString("0.5"));
    QCOMPARE(field<QLabel>("verdict")->text(), QString("✓ valid"));
  }

  void one_history_for_fields_and_text() {
    auto* editor = field<QPlainTextEdit>("recipeText");
    retype(field<QSpinBox>("training.steps"), "20");
    editor->setFocus();
    editor->moveCursor(QTextCursor::End);
    QTest::keyClicks(editor, "# end");
    retype(field<QSpinBox>("parallelism.tp"), "2");
    QVERIFY(text().contains("tp = 2"));
    document_->history()->undo();
    QVERIFY(!text().contains("tp"));
    QVERIFY(text().endsWith("# end"));
    document_->history()->undo();
    QVERIFY(!text().contains("# end"));
    document_->history()->undo();
    QCOMPARE(text(), kText);
    QVERIFY(!document_->history()->canUndo());
  }

  void undo_keys_are_left_to_the_page() {
    for (const char* name : {"recipeText", "data.tokenizer", "searchKeys"}) {
      auto* widget = view_->findChild<QWidget*>(name);
      QVERIFY(widget);
      QKeyEvent undo(QEvent::ShortcutOverride, Qt::Key_Z, Qt::ControlModifier);
      undo.ignore();
      QCoreApplication::sendEvent(widget, &undo);
      QVERIFY2(!undo.isAccepted(), name);
    }
  }

  void typing_keeps_the_cursor_where_it_is() {
    auto* editor = field<QPlainTextEdit>("recipeText");
    QTextCursor cursor = editor->textCursor();
    cursor.setPosition(static_cast<int>(kText.indexOf("corpus")));
    editor->setTextCursor(cursor);
    retype(field<QSpinBox>("model.n_layers"), "12");
    QCOMPARE(editor->textCursor().position(), static_cast<int>(text().indexOf("corpus")));
  }

  void a_fault_stands_at_its_field_and_its_line() {
    retype(field<QSpinBox>("parallelism.tp"), "3");
    auto* fault = field<QLabel>("bubble");
    QVERIFY(fault->isVisible());
    QVERIFY(fault->text().contains("8 ranks do not divide"));
    QVERIFY(field<QSpinBox>("parallelism.tp")->property("invalid").toBool());
    QVERIFY(field<QLabel>("product")->text().contains("✗"));
    QCOMPARE(field<QLabel>("verdict")->text(), QString("1 fault"));
    auto* faults = field<QListWidget>("faults");
    QVERIFY(faults->isVisible());
    QCOMPARE(faults->count(), 1);
    QVERIFY(!field<QPlainTextEdit>("recipeText")->extraSelections().isEmpty());
    Q_EMIT faults->itemClicked(faults->item(0));
    QVERIFY(field<QPlainTextEdit>("recipeText")->textCursor().block().text().startsWith("tp = 3"));
    document_->history()->undo();
    QVERIFY(!fault->isVisible());
    QVERIFY(!faults->isVisible());
    QCOMPARE(field<QLabel>("product")->text(), QString("1·1·8·1·1 = 8 ranks ✓"));
  }

  void a_fault_moves_no_other_field() {
    const auto places = [this] {
      QList<QPoint> all;
      for (const QWidget* each : view_->findChildren<QWidget*>())
        if (each->objectName().contains('.')) all << each->mapTo(view_.get(), QPoint());
      return all;
    };
    const QList<QPoint> before = places();
    QVERIFY(before.size() > 20);
    retype(field<QSpinBox>("parallelism.tp"), "3");
    QVERIFY(field<QLabel>("bubble")->isVisible());
    QCOMPARE(places(), before);
    // It shows while the field has the focus; a click on it uncovers what is below.
    auto* bubble = field<QLabel>("bubble");
    QTest::mouseClick(bubble, Qt::LeftButton, {}, QPoint(2, 2));
    QTRY_VERIFY(!bubble->isVisible());
    field<QSpinBox>("parallelism.pp")->setFocus();
    QVERIFY(!bubble->isVisible());
    field<QSpinBox>("parallelism.tp")->setFocus();
    QVERIFY(bubble->isVisible());
  }

  void what_is_no_number_is_told_and_changes_nothing() {
    auto* lr = field<QDoubleSpinBox>("optimizer.lr")->findChild<QLineEdit*>();
    lr->setFocus();
    lr->selectAll();
    QTest::keyClicks(lr, "fast");
    QCOMPARE(text(), kText);
    QVERIFY(field<QLabel>("bubble")->text().contains("no number"));
    lr->selectAll();
    QTest::keyClicks(lr, "1e-3");
    QVERIFY(text().contains("[optimizer]\nlr = 1e-3\n"));
    QVERIFY(!field<QLabel>("bubble")->isVisible());
    QCOMPARE(lr->text(), QString("1e-3"));
  }

  void broken_text_closes_the_fields_until_it_is_mended() {
    auto* editor = field<QPlainTextEdit>("recipeText");
    editor->setFocus();
    editor->moveCursor(QTextCursor::End);
    QTest::keyClicks(editor, "[");
    QVERIFY(!field<QSpinBox>("training.steps")->isEnabled());
    QCOMPARE(field<QSpinBox>("training.steps")->value(), 10);
    QTest::keyClick(editor, Qt::Key_Backspace);
    QVERIFY(field<QSpinBox>("training.steps")->isEnabled());
  }

  void a_preset_takes_the_place_of_the_numbers() {
    auto* preset = field<QComboBox>("model.preset");
    QCOMPARE(preset->currentText(), QString("llama3-debug"));
    choose(preset, "llama3-8b");
    QVERIFY(text().contains("preset = \"llama3-8b\"\n[data]"));
    QCOMPARE(field<ElidedLabel>("parameters")->fullText(), QString("8,030,261,248 parameters"));
    QCOMPARE(field<QSpinBox>("model.n_layers")->value(), 32);
    choose(preset, "own numbers");
    QVERIFY(!text().contains("preset"));
    QVERIFY(text().contains("dim = 4096\nn_layers = 32\n"));
    QCOMPARE(field<ElidedLabel>("parameters")->fullText(), QString("8,030,261,248 parameters"));
    document_->history()->undo();
    document_->history()->undo();
    QCOMPARE(text(), kText);
  }

  void paths() {
    auto* path = field<QLineEdit>("data.text");
    QCOMPARE(path->text(), QString("corpus.txt"));
    path->setFocus();
    path->selectAll();
    QTest::keyClicks(path, "a.txt; b.txt");
    QVERIFY(text().contains("text = [\"a.txt\", \"b.txt\"]"));
    QCOMPARE(path->text(), QString("a.txt; b.txt"));
  }

  void wrapping_by_hand() {
    auto* wrapping = field<Segment>("wrapping");
    auto* bands = field<BucketBands>("buckets");
    QTest::mouseClick(wrapping->button(2), Qt::LeftButton);
    QVERIFY(text().contains(
        "mode = \"manual\"\nbuckets = [\n  [\"tok_embeddings\"],\n  [\"layers.0\"],\n"));
    QVERIFY(document_->faults().empty());
    // The edge between layers 0 and 1, dragged down over one module and more.
    const QRectF first = bands->bandRect(1);
    const QPoint edge(100, static_cast<int>(first.bottom()) + 1);
    QTest::mousePress(bands, Qt::LeftButton, {}, edge);
    QTest::mouseMove(bands, edge + QPoint(0, 6));
    QTest::mouseMove(bands, edge + QPoint(0, 40));
    QTest::mouseRelease(bands, Qt::LeftButton, {}, edge + QPoint(0, 40));
    QVERIFY(document_->faults().empty());
    // An edge may empty its neighbour; then it is dragged back up.
    QVERIFY(text().contains("[\"layers.0-1\"],\n  [\"layers.2\"],"));
    const QPoint next(100, static_cast<int>(bands->bandRect(1).bottom()) + 1);
    QTest::mousePress(bands, Qt::LeftButton, {}, next);
    QTest::mouseMove(bands, next - QPoint(0, 10));
    QTest::mouseRelease(bands, Qt::LeftButton, {}, next - QPoint(0, 10));
    QVERIFY(text().contains("[\"layers.0\"],\n  [\"layers.1-2\"],"));
    QTest::mouseDClick(bands, Qt::LeftButton, {}, bands->bandRect(2).center().toPoint());
    QVERIFY(text().contains("[\"layers.1\"],\n  [\"layers.2\"],"));
    const QPoint join(100, static_cast<int>(bands->bandRect(1).bottom()) + 1);
    QTest::mouseDClick(bands, Qt::LeftButton, {}, join);
    QVERIFY(text().contains("[\"layers.0-1\"],\n  [\"layers.2\"],"));
    QVERIFY(document_->faults().empty());
    QTest::mouseClick(wrapping->button(1), Qt::LeftButton);
    QVERIFY(text().contains("mode = \"layers\"\n"));
    QVERIFY(!text().contains("buckets"));
    while (document_->history()->canUndo()) document_->history()->undo();
    QCOMPARE(text(), kText);
  }

  void buckets_by_keyboard() {
    QTest::mouseClick(field<Segment>("wrapping")->button(2), Qt::LeftButton);
    auto* bands = field<BucketBands>("buckets");
    bands->setFocus();  // at the first one
    for (int i = 0; i < 2; ++i) QTest::keyClick(bands, Qt::Key_Down);
    QTest::keyClick(bands, Qt::Key_Backspace);  // layer 1 joins layer 0
    QVERIFY(text().contains("[\"layers.0-1\"],"));
  }

  void the_first_drag_works_from_any_mode_data() {
    QTest::addColumn<QString>("mode");
    QTest::newRow("auto") << "auto";
    QTest::newRow("layers") << "layers";
  }

  void the_first_drag_works_from_any_mode() {
    QFETCH(QString, mode);
    document_->setKeys({{"wrapping.mode", '"' + mode + '"'}}, "test");
    document_->history()->clear();
    const QString before = text();
    auto* bands = field<BucketBands>("buckets");
    const QPoint edge(100, static_cast<int>(bands->bandRect(2).bottom()) + 1);
    QTest::mousePress(bands, Qt::LeftButton, {}, edge);
    QTest::mouseMove(bands, edge + QPoint(0, 20));
    QVERIFY2(text().contains("mode = \"manual\"\nbuckets = [\n  [\"tok_embeddings\"],\n  "
                             "[\"layers.0\"],\n  [\"layers.1-2\"],\n  [\"layers.3\"],"),
             qPrintable(text()));
    QTest::mouseMove(bands, edge);  // and back: the layer has its bucket again
    QVERIFY(text().contains("[\"layers.1\"],\n  [\"layers.2\"],"));
    QTest::mouseMove(bands, edge + QPoint(0, 20));
    QTest::mouseRelease(bands, Qt::LeftButton, {}, edge + QPoint(0, 20));
    QVERIFY(document_->faults().empty());
    QCOMPARE(document_->history()->count(), 1);
    document_->history()->undo();
    QCOMPARE(text(), before);
  }

  void buckets_follow_the_preset() {
    auto* bands = field<BucketBands>("buckets");
    Q_EMIT bands->everyRequested(2);
    QVERIFY(text().contains("[\"layers.0-1\"],\n  [\"layers.2-3\"],"));
    choose(field<QComboBox>("model.preset"), "llama3-405b");
    QVERIFY(document_->faults().empty());
    QVERIFY(text().contains("[\"layers.124-125\"],\n  [\"norm\", \"output\"],"));
    // All of them can be reached, at a height that can be hit.
    QVERIFY(bands->height() > bands->parentWidget()->height());
    QVERIFY(bands->bandRect(64).height() >= 16);
    choose(field<QComboBox>("model.preset"), "llama3-8b");
    QVERIFY(text().contains("[\"layers.30-31\"],\n  [\"norm\", \"output\"],"));
    QVERIFY(!text().contains("layers.32"));
  }

  void a_bad_bucket_is_told_beside_the_wrapping() {
    document_->setKeys({{"wrapping.mode", "\"manual\""}, {"wrapping.buckets", "[[\"layers.9\"]]"}},
                       "test");
    QVERIFY(field<QLabel>("bucketsNote")->text().contains("matches no module"));
    document_->setKeys({{"wrapping.buckets", "[[\"layers.0\"], [\"layers.2-3\", \"output\"]]"}},
                       "test");
    const auto* note = field<QLabel>("bucketsNote");
    QVERIFY(note->text().startsWith("in no bucket: tok_embeddings, layers.1, norm"));
    Q_EMIT const_cast<QLabel*>(note)->linkActivated("own");
    QVERIFY(document_->faults().empty());
    QVERIFY2(text().contains("buckets = [\n  [\"tok_embeddings\"],\n  [\"layers.0\"],\n  "
                             "[\"layers.1\"],\n  [\"layers.2-3\", \"output\"],\n  [\"norm\"],\n]"),
             qPrintable(text()));
    document_->history()->undo();
    Q_EMIT const_cast<QLabel*>(note)->linkActivated("before");
    QVERIFY(document_->faults().empty());
    QVERIFY2(text().contains("buckets = [\n  [\"tok_embeddings\", \"layers.0\", \"layers.1\"],\n  "
                             "[\"layers.2-3\", \"output\", \"norm\"],\n]"),
             qPrintable(text()));
  }

  void buckets_tell_what_a_rank_gathers() {
    document_->setKeys({{"wrapping.mode", "\"layers\""}, {"model.vocab_size", "4096"}}, "test");
    const auto* bands = field<BucketBands>("buckets");
    // dim 256, ffn 768, fp32: 4 · 256² + 3 · 256 · 768 elements, and two norms.
    QVERIFY2(bands->accessibleDescription().contains(
                 "layer 0: 852,480 parameters, a rank gathers 3.25 MiB"),
             qPrintable(bands->accessibleDescription()));
    document_->setKey("parallelism.tp", "2");
    QVERIFY2(bands->accessibleDescription().contains(
                 "layer 0: 852,480 parameters, a rank gathers 1.63 MiB"),
             qPrintable(bands->accessibleDescription()));
    document_->setKey("parallelism.tp", "8");
    QVERIFY(!bands->accessibleDescription().contains("gathers"));
    QVERIFY(field<QLabel>("bucketsNote")->text().contains("Nothing is sharded"));
    document_->setKey("parallelism.tp", "2");
    document_->setKey("data.text", "[]");  // changes no size
    QVERIFY(!document_->faults().empty());
    QVERIFY(bands->accessibleDescription().contains("gathers"));
    document_->setKey("parallelism.tp", "3");  // a fault of the mesh: nothing follows
    QVERIFY(!bands->accessibleDescription().contains("gathers"));
  }

  void checkpoints_say_where_and_what_it_means_to_have_none() {
    const auto* note = field<QLabel>("checkpointsNote");
    auto* folder = field<QLineEdit>("checkpoint.folder");
    QCOMPARE(folder->placeholderText(), QString("in the run's own directory"));
    QVERIFY(note->text().contains("resumes"));
    choose(field<QComboBox>("checkpoint.enabled"), "never");
    QVERIFY(text().contains("[checkpoint]\nenabled = false\n"));
    QVERIFY(note->text().contains("loses"));
    QVERIFY(!folder->isEnabled());
    choose(field<QComboBox>("checkpoint.enabled"), "when a run stops and at its end");
    QVERIFY(folder->isEnabled());
  }

  void like_layers_are_one_transfer() {
    plan::Document document;
    const auto add = [&](const char* node, int64_t rank, double seconds) {
      document.exposed.push_back({node, rank, -1, seconds, "a dependency"});
    };
    add("reduce_scatter norm+output (backward)", 0, 5);
    add("all_gather layers.3 (backward)", 0, 4);
    add("all_gather layers.2 (backward)", 0, 3);
    add("all_gather layers.9 (backward)", 4, 2);
    add("all_gather layers.3 (forward)", 0, 1);
    const QList<ExposedFold> folds = exposedFolds(document);
    QCOMPARE(folds.size(), 3);
    QCOMPARE(folds[0].node, QString("all_gather layers.3 (backward), and 2 like it"));
    QCOMPARE(folds[0].seconds, 7.0);  // of rank 0, which waits longest
    QCOMPARE(folds[1].node, QString("reduce_scatter norm+output (backward)"));
    QCOMPARE(folds[2].node, QString("all_gather layers.3 (forward)"));
  }

  void nothing_is_planned_before_the_page_is_shown() {
    QCOMPARE(planner_->pid(), qint64{0});
    QVERIFY(field<QLabel>("noPrediction")->isVisible());
  }

  void numbers_follow_an_edit() {
    predict();
    QVERIFY2(prediction_->shown(), qPrintable(prediction_->staleReason()));
    QVERIFY(!field<QLabel>("noPrediction")->isVisible());
    const plan::Document before = prediction_->shown()->document;
    QVERIFY(before.peak_bytes > 0);
    QCOMPARE(field<QLabel>("memoryTotal")->text(),
             format::bytes(static_cast<double>(before.peak_bytes)));
    retype(field<QSpinBox>("training.local_batch"), "8");
    settle();
    const plan::Document& after = prediction_->shown()->document;
    QVERIFY(after.tokens_per_step > before.tokens_per_step);
    QVERIFY(field<QLabel>("memoryTotal")->text() ==
            format::bytes(static_cast<double>(after.peak_bytes)));
    QCOMPARE(tile(Figure::step)->figure().note,
             QString("%1 tokens").arg(format::count(after.tokens_per_step)));
  }

  void a_fault_keeps_the_last_prediction_and_says_so() {
    predict();
    QVERIFY(prediction_->shown());
    const QString total = field<QLabel>("memoryTotal")->text();
    retype(field<QSpinBox>("parallelism.tp"), "3");
    settle();
    auto* reason = field<QLabel>("staleReason");
    QVERIFY(reason->isVisible());
    QVERIFY2(reason->text().contains("parallelism.tp"), qPrintable(reason->text()));
    QCOMPARE(field<QLabel>("memoryTotal")->text(), total);
    QVERIFY(!field<TimelineWidget>("predictedSteps")->rows().empty());
    document_->history()->undo();
    settle();
    QVERIFY(!reason->isVisible());
  }

  void a_pinned_prediction_is_what_numbers_are_held_against() {
    predict();
    auto* pin = field<QToolButton>("pin");
    QTest::mouseClick(pin, Qt::LeftButton);
    QVERIFY(field<QLabel>("pinnedName")->text().contains("mine"));
    QCOMPARE(tile(Figure::step)->difference().text, QString("as pinned"));
    retype(field<QSpinBox>("training.local_batch"), "8");
    settle();
    const Difference longer = tile(Figure::step)->difference();
    QVERIFY2(longer.text.startsWith('+'), qPrintable(longer.text));
    QCOMPARE(longer.tone, Tone::bad);
    QTest::mouseClick(pin, Qt::LeftButton);
    QVERIFY(tile(Figure::step)->difference().text.isEmpty());
  }

  void a_number_opens_why() {
    predict();
    QTest::mouseClick(tile(Figure::step), Qt::LeftButton);
    const auto* why = view_->findChild<QFrame*>("why");
    QVERIFY(why);
    QVERIFY(why->isVisible());
    QCOMPARE(why->findChild<QLabel*>("formula")->text(),
             QString("step = compute + exposed + bubble + idle"));
  }

  void why_is_of_the_recipe_that_the_numbers_are_of() {
    predict();
    retype(field<QSpinBox>("parallelism.tp"), "3");  // a fault: the numbers stay
    retype(field<QSpinBox>("data.seq_len"), "64");
    settle();
    QTest::mouseClick(tile(Figure::throughput), Qt::LeftButton);
    const plan::Document& d = prediction_->shown()->document;
    const qint64 length = prediction_->shownRecipe().data.seq_len;
    QVERIFY(length != 64);
    QVERIFY2(view_->findChild<QLabel*>("formula")->text().endsWith(
                 QString("= %1 sequences × %2")
                     .arg(format::count(d.tokens_per_step / length), format::count(length))),
             qPrintable(view_->findChild<QLabel*>("formula")->text()));
  }

  void micro_batches_are_those_of_the_whole_step() {
    const recipe::Recipe recipe =
        recipe::resolve(recipe::parse("[model]\npreset = \"llama3-debug\"\nn_layers = 4\n"
                                      "vocab_size = 512\n[data]\ntoken_ids = \"a\"\n"
                                      "[training]\nlocal_batch = 8\nglobal_batch = 32\n"
                                      "[parallelism]\npp = 2\nmicrobatches = 4\n"
                                      "[hardware]\nranks = 2\n",
                                      "r"))
            .recipe;
    QCOMPARE(whyOf(Figure::bubble, {}, recipe, 0).formula.value(1),
             QString("2 stages, 16 micro-batches"));
  }

  void hardware_is_chosen_from_the_catalogue() {
    predict();
    auto* hardware = field<QComboBox>("hardware");
    QTRY_VERIFY_WITH_TIMEOUT(hardware->findData("h100-sxm") >= 0, 60000);
    const int index = hardware->findData("h100-sxm");
    hardware->setCurrentIndex(index);
    Q_EMIT hardware->activated(index);
    QVERIFY2(text().contains("name = \"h100-sxm\""), qPrintable(text()));
    settle();
    QVERIFY2(!prediction_->isStale(), qPrintable(prediction_->staleReason()));
    QCOMPARE(QString::fromStdString(prediction_->shown()->document.hardware), QString("h100-sxm"));
    QVERIFY(tile(Figure::mfu)->isVisible());
    const QString convention = field<QLabel>("convention")->text();
    QTest::mouseClick(field<QPushButton>("nextConvention"), Qt::LeftButton);
    QVERIFY(field<QLabel>("convention")->text() != convention);
    document_->history()->undo();
    QVERIFY(!text().contains("h100"));
  }

 private:
  template <typename T>
  T* field(const char* name) {
    T* found = view_->findChild<T*>(QString::fromLatin1(name));
    if (found == nullptr) qFatal("there is no %s", name);
    return found;
  }

  QString text() { return field<QPlainTextEdit>("recipeText")->toPlainText(); }

  static void retype(QSpinBox* box, const char* number) {
    box->setFocus();
    box->selectAll();
    QTest::keyClicks(box, number);
    QTest::keyClick(box, Qt::Key_Return);
  }

  static void choose(QComboBox* box, const QString& words) {
    const int index = box->findText(words);
    QVERIFY(index >= 0);
    box->setCurrentIndex(index);
    Q_EMIT box->activated(index);
  }

  /// Has the recipe planned by the engine, with a vocabulary that needs no tokenizer's file.
  void predict() {
    QString text = kText;
    document_->load("mine", text.replace("n_layers = 4\n", "n_layers = 4\nvocab_size = 512\n"), {});
    prediction_->start();
    settle();
  }

  void settle() { QTRY_VERIFY_WITH_TIMEOUT(!prediction_->isPlanning(), 60000); }

  FigureTile* tile(Figure figure) {
    for (auto* tile : view_->findChildren<FigureTile*>())
      if (tile->property("figure").toInt() == static_cast<int>(figure)) return tile;
    qFatal("there is no such tile");
  }

  std::unique_ptr<RecipeDocument> document_;
  std::unique_ptr<PlanClient> planner_;
  std::unique_ptr<RecipePrediction> prediction_;
  std::unique_ptr<ComposeView> view_;
};

HEDDLE_WIDGET_TEST(ComposeViewTest)
#include "compose_view_test.moc"
