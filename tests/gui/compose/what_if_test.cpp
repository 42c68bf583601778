// Compose predicts recipes that one does not have yet: other values of a field, an edge that is
// being dragged, another executor, a pinned prediction; and it reports that its planner died.
#include <signal.h>

#include <QComboBox>
#include <QLabel>
#include <QPushButton>
#include <QScrollArea>
#include <QTest>
#include <QToolButton>

#include "gui/theme/theme.h"
#include "gui/views/compose/compose_view.h"
#include "gui/views/compose/model_panel.h"
#include "gui/views/compose/neighbours_popup.h"
#include "tests/support/test_class.h"

using namespace heddle;
using namespace heddle::gui;

namespace {

const QString kAsked = QStringLiteral(
    "[model]\npreset = \"llama3-debug\"\nn_layers = 4\nvocab_size = 512\n"
    "[data]\ntext = [\"corpus.txt\"]\ntokenizer = \"tokenizer.json\"\n"
    "[parallelism]\ndp_shard = 8\n"
    "[wrapping]\nmode = \"layers\"\n"
    "[hardware]\nranks = 8\n");

}  // namespace

class WhatIfTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void initTestCase() {
    Theme::install(Theme::Mode::dark);
    planner_ = std::make_unique<PlanClient>(QStringLiteral(HEDDLE_BINARY_DIR "/heddle-engine"));
  }
  void cleanupTestCase() { planner_.reset(); }

  void init() {
    document_ = std::make_unique<RecipeDocument>();
    document_->load("mine", kAsked, {});
    prediction_ = std::make_unique<RecipePrediction>(*document_, *planner_);
    view_ = std::make_unique<ComposeView>(*document_, *prediction_);
    view_->resize(1536, 924);
    view_->show();
    QVERIFY(QTest::qWaitForWindowActive(view_.get()));
    prediction_->start();
    settle();
    QVERIFY2(prediction_->shown(), qPrintable(prediction_->staleReason()));
  }

  void cleanup() {
    view_.reset();
    prediction_.reset();
    document_.reset();
  }

  void a_name_tells_what_other_values_would_give() {
    const auto before = prediction_->shown();
    QTest::mouseClick(nameOf("training.local_batch"), Qt::LeftButton);
    auto* popup = view_->findChild<NeighboursPopup*>();
    QVERIFY(popup && popup->isVisible());
    settle();
    QCOMPARE(takes(popup), QStringList({"4", "1"}));
    const QStringList words = wordsIn(popup);
    QVERIFY2(words.contains("fits"), qPrintable(words.join(" | ")));
    QVERIFY2(words.filter("%").size() >= 1, qPrintable(words.join(" | ")));
    // They have left the recipe's own prediction alone.
    QCOMPARE(prediction_->shown(), before);
    QTest::mouseClick(popup->findChild<QPushButton*>("take"), Qt::LeftButton);
    QVERIFY2(document_->text().contains("local_batch = 4"), qPrintable(document_->text()));
    document_->history()->undo();
    QCOMPARE(document_->text(), kAsked);
  }

  void alt_and_enter_do_so_too() {
    auto* field = view_->findChild<QWidget*>("training.local_batch");
    field->setFocus();
    QTest::keyClick(field, Qt::Key_Return, Qt::AltModifier);
    QVERIFY(view_->findChild<NeighboursPopup*>());
    settle();
  }

  void a_value_that_does_not_fit_takes_another_with_it() {
    QTest::mouseClick(nameOf("parallelism.tp"), Qt::LeftButton);
    auto* popup = view_->findChild<NeighboursPopup*>();
    QVERIFY(popup);
    QCOMPARE(takes(popup).first(), QString("2 with dp_shard 4"));
    settle();
    QTest::mouseClick(popup->findChild<QPushButton*>("take"), Qt::LeftButton);
    QCOMPARE(document_->value("parallelism.tp"), QString("2"));
    QCOMPARE(document_->value("parallelism.dp_shard"), QString("4"));
    QCOMPARE(document_->history()->count(), 1);
  }

  void a_value_without_a_plan_says_why() {
    document_->setKey("model.n_heads", "15");
    settle();
    QTest::mouseClick(nameOf("training.local_batch"), Qt::LeftButton);
    auto* popup = view_->findChild<NeighboursPopup*>();
    settle();
    const QStringList words = wordsIn(popup);
    QVERIFY2(!words.contains("planning …") && !words.contains("fits"),
             qPrintable(words.join(" | ")));
    QVERIFY2(words.contains("no prediction"), qPrintable(words.join(" | ")));
  }

  void an_exception_tells_what_it_would_be_otherwise() {
    document_->setOverrides({{{"layers.0-1"}, recipe::RecomputeMode::full, {}, {}}}, "test");
    settle();
    const QString with = document_->text();
    QTest::mouseClick(view_->findChild<QPushButton*>("whatIf"), Qt::LeftButton);
    auto* popup = view_->findChild<NeighboursPopup*>();
    QVERIFY(popup);
    QCOMPARE(takes(popup), QStringList({"without it: recompute none", "recompute selective"}));
    settle();
    QVERIFY2(wordsIn(popup).filter("−").size() >= 1, qPrintable(wordsIn(popup).join(" | ")));
    QTest::mouseClick(popup->findChild<QPushButton*>("take"), Qt::LeftButton);
    QCOMPARE(document_->text(), kAsked);
    document_->history()->undo();
    QCOMPARE(document_->text(), with);
  }

  void a_dragged_edge_tells_what_it_changes() {
    auto* bands = view_->findChild<BucketBands*>();
    auto* hint = view_->findChild<EditHint*>();
    const QPoint edge(60, static_cast<int>(bands->bandRect(2).bottom()) + 1);
    const QPoint below = edge + QPoint(0, static_cast<int>(bands->bandRect(2).height() / 3) + 1);
    QTest::mousePress(bands, Qt::LeftButton, {}, edge);
    QVERIFY(!hint->isVisible());
    QTest::mouseMove(bands, below);
    QVERIFY(hint->isVisible());
    settle();
    const QString words = wordsIn(hint).join(" | ");
    QVERIFY2(words.contains("layers 1–2  |  layer 3"), qPrintable(words));
    for (const char* each : {"step", "exposed", "memory", "gather"})
      QVERIFY2(words.contains(each), qPrintable(words));
    QVERIFY(view_->rect().contains(QRect(hint->mapTo(view_.get(), QPoint()), hint->size())));
    QTest::mouseRelease(bands, Qt::LeftButton, {}, below);
    QVERIFY(!hint->isVisible());
  }

  // By how much, on which rank; and a click that closes it is one edit.
  void what_does_not_fit_says_what_would_close_it() {
    document_->load(
        "large",
        "[model]\npreset = \"llama3-8b\"\n"
        "[data]\ntext = [\"corpus.txt\"]\ntokenizer = \"tokenizer.json\"\nseq_len = 8192\n"
        "[training]\nlocal_batch = 4\n"
        "[hardware]\nranks = 8\nname = \"h100-sxm\"\n",
        {});
    settle();
    const plan::Document& before = prediction_->shown()->document;
    QVERIFY(!before.fits());
    QVERIFY(prediction_->shortfall().has_value());
    auto* shortfall = view_->findChild<QWidget*>("shortfall");
    QVERIFY(shortfall->isVisible());
    const QString lack = shortfall->findChild<QLabel*>("lack")->text();
    QVERIFY2(lack.startsWith("Needs ") && lack.contains(" on rank 0"), qPrintable(lack));
    const QString text = document_->text();
    const auto links = shortfall->findChildren<QLabel*>("closes");
    QCOMPARE(static_cast<size_t>(links.size()), prediction_->shortfall()->closed_by.size() +
                                                    prediction_->shortfall()->least.has_value());
    QVERIFY(!prediction_->shortfall()->closed_by.empty());
    QLabel* link = links.first();
    auto* column = view_->findChild<PredictionPanel*>()->findChild<QScrollArea*>();
    QTest::qWait(50);  // for the layout of the words that have come
    column->ensureWidgetVisible(link);
    QTest::mouseClick(link, Qt::LeftButton, {}, QPoint(12, link->fontMetrics().height() / 2));
    QVERIFY(document_->text() != text);
    QCOMPARE(document_->history()->count(), 1);
    settle();
    QVERIFY(prediction_->shown()->document.fits());
    QVERIFY(!shortfall->isVisible());
    document_->history()->undo();
    QCOMPARE(document_->text(), text);
    settle();
    QVERIFY(shortfall->isVisible());
  }

  // The most alike in a line; the others, and where they are from, by a click.
  void what_others_have_measured_stands_beside_it() {
    document_->load(
        "large",
        "[model]\npreset = \"llama3-8b\"\n"
        "[data]\ntext = [\"corpus.txt\"]\ntokenizer = \"tokenizer.json\"\nseq_len = 8192\n"
        "[hardware]\nranks = 8\nname = \"h100-sxm\"\n",
        {});
    settle();
    const plan::Document& shown = prediction_->shown()->document;
    QCOMPARE(shown.published.size(), size_t{3});
    auto* words = view_->findChild<QLabel*>("published");
    QVERIFY2(words->isVisible() && words->text().contains(" tokens/s a GPU: "),
             qPrintable(words->text()));
    auto* all = view_->findChild<QPushButton*>("allPublished");
    view_->findChild<PredictionPanel*>()->findChild<QScrollArea*>()->ensureWidgetVisible(all);
    QTest::mouseClick(all, Qt::LeftButton);
    auto* popup = view_->findChild<QFrame*>("why");
    QVERIFY(popup && popup->isVisible());
    QCOMPARE(popup->findChildren<QLabel*>("formula").size(), 3);
    popup->close();
    // Nobody has published a run of a model as small as this.
    document_->load("mine", kAsked, {});
    settle();
    QVERIFY(prediction_->shown()->document.published.empty());
    QVERIFY(!words->isVisible());
  }

  void the_executor_is_the_windows_and_not_the_recipes() {
    document_->setKey("hardware.name", "\"h100-sxm\"");  // the other two are known of GPUs
    settle();
    const QString recipe = document_->text();
    const double ours = prediction_->shown()->document.step_seconds;
    auto* executor = view_->findChild<QComboBox*>("executor");
    const int eager = executor->findData("eager");
    executor->setCurrentIndex(eager);
    Q_EMIT executor->activated(eager);
    settle();
    QCOMPARE(prediction_->shown()->document.executor, std::string("eager"));
    QVERIFY(prediction_->shown()->document.step_seconds > ours);
    QCOMPARE(document_->text(), recipe);
    // The recipe that it is compared with is planned for the same one.
    QCOMPARE(prediction_->questionOf(kAsked).executor, std::string("eager"));
    prediction_->setExecutor("another");
    QCOMPARE(prediction_->executor(), QString("eager"));
  }

  void the_pinned_step_stands_under_the_other() {
    auto* timeline = view_->findChild<TimelineWidget*>("predictedSteps");
    QCOMPARE(timeline->rows().size(), size_t{1});
    prediction_->pin();
    QCOMPARE(timeline->rows().size(), size_t{1});  // the same one
    document_->setKey("training.local_batch", "4");
    settle();
    QCOMPARE(timeline->rows().size(), size_t{2});
    QCOMPARE(timeline->rows()[1].title, QString("pinned"));
    QCOMPARE(timeline->rows()[1].timeline, prediction_->pinned()->timelines[0]);
    prediction_->unpin();
    QCOMPARE(timeline->rows().size(), size_t{1});
  }

  void a_bucket_leads_to_its_gather() {
    auto* timeline = view_->findChild<TimelineWidget*>("predictedSteps");
    auto* bands = view_->findChild<BucketBands*>();
    QVERIFY(timeline->axis().showsAll());
    QTest::mouseClick(bands, Qt::LeftButton, {}, bands->bandRect(2).center().toPoint());
    QVERIFY(!timeline->axis().showsAll());
    bool found = false;
    for (const auto& span : timeline->rows()[0].timeline->lane(Stream::communication).spans())
      found = found || (span.name == "all_gather" && span.module == "layers.1" &&
                        static_cast<double>(span.start_us) >= timeline->axis().beginUs &&
                        static_cast<double>(span.start_us) <= timeline->axis().endUs);
    QVERIFY(found);
  }

  void words_are_whole_at_every_size_data() {
    QTest::addColumn<QString>("recipe");
    QTest::addColumn<QSize>("size");
    for (const char* recipe : {"debug", "llama3-8b-8xh100", "llama3-405b-512xh100"})
      for (const QSize& size : {QSize(1216, 724), QSize(1536, 924), QSize(2496, 1364)})
        QTest::newRow(qPrintable(QString("%1, %2").arg(recipe).arg(size.width())))
            << recipe << size;
  }

  /// As large as the window's page is at 1280x800, 1600x1000 and 2560x1440.
  void words_are_whole_at_every_size() {
    QFETCH(QString, recipe);
    QFETCH(QSize, size);
    QVERIFY(document_->open(
        QStringLiteral(HEDDLE_SOURCE_DIR "/resources/recipes/%1.toml").arg(recipe)));
    settle();
    QVERIFY2(prediction_->shown(), qPrintable(prediction_->staleReason()));
    view_.reset();
    view_ = std::make_unique<ComposeView>(*document_, *prediction_);
    view_->resize(size);
    view_->show();
    QVERIFY(QTest::qWaitForWindowActive(view_.get()));
    for (const auto* each : view_->findChildren<QLabel*>()) {
      const QString name = each->objectName() + ": " + each->text();
      if (!each->isVisible() || each->wordWrap() || each->property("mayElide").toBool()) continue;
      QVERIFY2(each->sizeHint().width() <= each->width(), qPrintable(name));
    }
    for (const auto* each : view_->findChildren<QComboBox*>())
      if (each->isVisible())
        QVERIFY2(each->fontMetrics().horizontalAdvance(each->currentText()) <= each->width() - 30,
                 qPrintable(each->currentText()));
  }

  void a_planner_that_dies_is_told_and_started_again() {
    const auto before = prediction_->shown();
    QCOMPARE(kill(static_cast<pid_t>(planner_->pid()), SIGKILL), 0);
    auto* state = view_->findChild<QLabel*>("staleReason");
    QTRY_VERIFY_WITH_TIMEOUT(state->isVisible(), 60000);
    QVERIFY2(state->text().contains("was ended by signal 9 and has been started again"),
             qPrintable(state->text()));
    QCOMPARE(prediction_->shown(), before);
    document_->setKey("training.local_batch", "4");
    settle();
    QVERIFY(prediction_->shown() != before);
    QVERIFY(!state->isVisible());
  }

 private:
  QLabel* nameOf(const char* key) {
    for (auto* each : view_->findChildren<QLabel*>())
      if (each->property("key").toString() == key) return each;
    qFatal("no name of %s", key);
  }

  static QStringList takes(const QWidget* popup) {
    QStringList all;
    for (const auto* each : popup->findChildren<QPushButton*>("take")) all << each->text();
    return all;
  }

  static QStringList wordsIn(const QWidget* widget) {
    QStringList all;
    for (const auto* each : widget->findChildren<QLabel*>())
      if (!each->text().isEmpty()) all << each->text();
    return all;
  }

  void settle() { QTRY_VERIFY_WITH_TIMEOUT(!prediction_->isPlanning(), 60000); }

  std::unique_ptr<RecipeDocument> document_;
  std::unique_ptr<PlanClient> planner_;
  std::unique_ptr<RecipePrediction> prediction_;
  std::unique_ptr<ComposeView> view_;
};

HEDDLE_WIDGET_TEST(WhatIfTest)
#include "what_if_test.moc"
