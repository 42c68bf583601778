// The search dialog by mouse: pins, the front, a layout taken over, why not this recipe, a search
// given up; several numbers of ranks.
#include "gui/views/compose/search_dialog.h"

#include <QTest>

#include "gui/theme/theme.h"
#include "tests/gui/compose/composed.h"
#include "tests/support/test_class.h"

using namespace heddle;
using namespace heddle::gui;

namespace {

const QString kSearched = QStringLiteral(
    "[model]\npreset = \"llama3-8b\"\n"
    "[data]\ntext = [\"corpus.txt\"]\ntokenizer = \"tokenizer.json\"\nseq_len = 8192\n"
    "[training]\nlocal_batch = 2\n"
    "[parallelism]\ntp = 2\n"
    "[recompute]\nmode = \"full\"\n"
    "[precision]\nparam = \"bf16\"\n"
    "[hardware]\nranks = 8\nname = \"h100-sxm\"\n");

const QString kEngine = QStringLiteral(HEDDLE_BINARY_DIR "/heddle-engine");

}  // namespace

class SearchDialogTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void initTestCase() { Theme::install(Theme::Mode::dark); }

  void init() {
    document_ = documentOf(kSearched);
    dialog_ = std::make_unique<SearchDialog>(*document_, kEngine, client_, nullptr);
    dialog_->resize(1000, 760);
    dialog_->show();
    QVERIFY(QTest::qWaitForWindowActive(dialog_.get()));
  }

  void cleanup() {
    dialog_.reset();
    document_.reset();
  }

  void a_layout_is_taken_over_as_one_edit() {
    searchToTheEnd();
    auto* chart = dialog_->findChild<FrontChart*>();
    const QPoint best = chart->pointOf(0).toPoint();
    QTest::mouseMove(chart, best);
    QTRY_COMPARE(chart->hovered(), 0);
    QVERIFY(!text("words").isEmpty());
    QVERIFY2(text("figures").contains("tok/s") && text("figures").contains("GiB"),
             qPrintable(text("figures")));
    const auto* timeline = dialog_->findChild<TimelineStrip*>();
    QTRY_VERIFY_WITH_TIMEOUT(timeline->timeline() != nullptr, 60000);
    QVERIFY(!timeline->timeline()->empty());
    QVERIFY2(text("foundRank").startsWith("compute and communication of rank "),
             qPrintable(text("foundRank")));
    QVERIFY2(text("whyNotMine").startsWith("This recipe: "), qPrintable(text("whyNotMine")));
    QTest::mouseClick(chart, Qt::LeftButton, {}, best);
    QVERIFY(document_->text() != kSearched);
    QVERIFY(document_->faults().empty());
    QCOMPARE(document_->history()->count(), 1);
    QVERIFY(!dialog_->isVisible());
    document_->history()->undo();
    QCOMPARE(document_->text(), kSearched);
  }

  void what_is_pinned_stays() {
    QTest::mouseClick(dialog_->findChild<QToolButton*>("pin parallelism.tp"), Qt::LeftButton);
    QTest::mouseClick(dialog_->findChild<QToolButton*>("pin recompute.mode"), Qt::LeftButton);
    searchToTheEnd();
    auto* chart = dialog_->findChild<FrontChart*>();
    QTest::mouseClick(chart, Qt::LeftButton, {}, chart->pointOf(0).toPoint());
    QCOMPARE(document_->value("parallelism.tp"), QString("2"));
    QCOMPARE(document_->value("recompute.mode"), QString("\"full\""));
  }

  void what_the_others_decide_is_told_in_words() {
    document_->setKeys({{"parallelism.pp", "2"}}, "pp");
    dialog_ = std::make_unique<SearchDialog>(*document_, kEngine, client_, nullptr);
    QCOMPARE(text("value parallelism.microbatches"), QString("auto: 2"));
    QCOMPARE(text("value parallelism.dp_shard"), QString("rest: 2"));
    QCOMPARE(text("value parallelism.tp"), QString("2"));
  }

  void how_many_ranks() {
    count("4, 8, 16", "1T");
    searchToTheEnd();
    QVERIFY2(text("state").startsWith("3 rank counts searched"), qPrintable(text("state")));
    QVERIFY2(text("rate 8").contains("tok/s"), qPrintable(text("rate 8")));
    QVERIFY2(text("memory 16").contains("GiB"), qPrintable(text("memory 16")));
    QVERIFY2(text("efficiency 16").endsWith("%"), qPrintable(text("efficiency 16")));
    QVERIFY2(text("cost 16").startsWith("$"), qPrintable(text("cost 16")));
    QVERIFY2(text("costs 16").startsWith("$"), qPrintable(text("costs 16")));
    QVERIFY(!text("time 16").isEmpty());
    QVERIFY2(text("price").contains("AWS"), qPrintable(text("price")));
    QTest::mouseClick(dialog_->findChild<QPushButton*>("take 16"), Qt::LeftButton);
    QVERIFY(!dialog_->isVisible());
    QCOMPARE(document_->value("hardware.ranks"), QString("16"));
    QVERIFY(document_->faults().empty());
    QCOMPARE(document_->history()->count(), 1);
    document_->history()->undo();
    QCOMPARE(document_->text(), kSearched);
  }

  void the_focus_is_on_what_is_chosen() {
    auto* kind = dialog_->findChild<Segment*>("kind");
    kind->button(0)->setFocus(Qt::TabFocusReason);
    QTest::mouseClick(kind->button(1), Qt::LeftButton);
    QVERIFY(kind->button(1)->hasFocus());
    QVERIFY(!kind->button(0)->hasFocus());
  }

  void a_number_of_ranks_without_a_layout_says_why() {
    count("8, 11", "");
    searchToTheEnd();
    QVERIFY2(text("why 11").contains("11 ranks do not fill nodes of 8"),
             qPrintable(text("why 11")));
    QVERIFY(dialog_->findChild<QPushButton*>("take 8"));
    QVERIFY(!dialog_->findChild<QPushButton*>("take 11"));
  }

  void numbers_that_are_none_are_told() {
    count("8, many", "");
    QTest::mouseClick(dialog_->findChild<QPushButton*>("search"), Qt::LeftButton);
    QVERIFY2(text("state").startsWith("Numbers of ranks: \"many\" is no number of ranks"),
             qPrintable(text("state")));
    count("8", "all");
    QTest::mouseClick(dialog_->findChild<QPushButton*>("search"), Qt::LeftButton);
    QVERIFY2(text("state").startsWith("Tokens to train: "), qPrintable(text("state")));
  }

  void it_can_be_given_up() {
    auto* go = dialog_->findChild<QPushButton*>("search");
    QTest::mouseClick(go, Qt::LeftButton);
    QCOMPARE(go->text(), QString("Cancel search"));
    QTRY_VERIFY_WITH_TIMEOUT(text("state").contains("planned"), 60000);
    QTest::mouseClick(go, Qt::LeftButton);
    QTRY_COMPARE_WITH_TIMEOUT(go->text(), QString("Search"), 60000);
    QVERIFY2(text("state").contains("cancelled"), qPrintable(text("state")));
    QCOMPARE(document_->text(), kSearched);
  }

  void a_limit_that_is_no_size_is_told() {
    QTest::keyClicks(dialog_->findChild<QLineEdit*>("memoryLimit"), "much");
    QTest::mouseClick(dialog_->findChild<QPushButton*>("search"), Qt::LeftButton);
    QCOMPARE(text("state"), QString("much is no size; valid: as in 60 GiB"));
  }

  void nothing_fits() {
    QTest::keyClicks(dialog_->findChild<QLineEdit*>("memoryLimit"), "4 GiB");
    searchToTheEnd();
    QVERIFY2(text("state").startsWith("Nothing fits: the closest layout needs "),
             qPrintable(text("state")));
  }

  void what_contradicts_itself_is_told() {
    document_->setKey("parallelism.pp", "2");
    document_->setKey("parallelism.tp", "4");
    document_->setKey("parallelism.cp", "2");
    QTest::mouseClick(dialog_->findChild<QPushButton*>("search"), Qt::LeftButton);
    QTRY_VERIFY_WITH_TIMEOUT(text("state").contains("8 ranks do not divide"), 60000);
  }

 private:
  /// Asks for numbers of ranks, by mouse and keyboard.
  void count(const QString& ranks, const QString& tokens) {
    QTest::mouseClick(dialog_->findChild<Segment*>("kind")->button(1), Qt::LeftButton);
    for (const auto& [name, written] : {std::pair("ranks", ranks), std::pair("tokens", tokens)}) {
      auto* field = dialog_->findChild<QLineEdit*>(name);
      QVERIFY(field->isVisible());
      field->selectAll();
      QTest::keyClick(field, Qt::Key_Delete);
      QTest::keyClicks(field, written);
    }
  }

  void searchToTheEnd() {
    auto* go = dialog_->findChild<QPushButton*>("search");
    QTest::mouseClick(go, Qt::LeftButton);
    QTRY_COMPARE_WITH_TIMEOUT(go->text(), QString("Search"), 120000);
  }

  QString text(const char* name) const { return dialog_->findChild<QLabel*>(name)->text(); }

  PlanClient client_{kEngine};
  std::unique_ptr<RecipeDocument> document_;
  std::unique_ptr<SearchDialog> dialog_;
};

HEDDLE_WIDGET_TEST(SearchDialogTest)
#include "search_dialog_test.moc"
