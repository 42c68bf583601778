// Layers chosen by mouse and keyboard, and what is done with them.
#include "gui/views/compose/layers_panel.h"

#include <QApplication>
#include <QComboBox>
#include <QMenu>
#include <QPushButton>
#include <QScrollArea>
#include <QScrollBar>
#include <QTest>
#include <QTimer>
#include <QToolButton>

#include "gui/theme/theme.h"
#include "gui/views/compose/layer_exceptions.h"
#include "gui/widgets/more_below.h"
#include "tests/gui/compose/composed.h"
#include "tests/support/test_class.h"

using namespace heddle;
using namespace heddle::gui;
using recipe::RecomputeMode;

class LayersPanelTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void initTestCase() { Theme::install(Theme::Mode::dark); }

  void init() {
    document_ = documentOf(kText);
    panel_ = shown<LayersPanel>(QSize(420, 300), *document_);
  }

  void cleanup() {
    panel_.reset();
    document_.reset();
  }

  void layers_are_chosen_by_mouse() {
    auto* strip = panel_->findChild<LayerStrip*>();
    click(strip, 3);
    QCOMPARE(panel_->range(), (ModuleRange{4, 4}));
    click(strip, 7, Qt::ShiftModifier);
    QCOMPARE(panel_->range(), (ModuleRange{4, 8}));
    click(strip, 1, Qt::ShiftModifier);
    QCOMPARE(panel_->range(), (ModuleRange{4, 2}));
    panel_->choose({0, 0}, true);  // the embedding, in the model's picture
    QCOMPARE(panel_->range().first(), 0);
    QCOMPARE(panel_->range().last(), 4);
  }

  void layers_are_chosen_by_keyboard() {
    auto* strip = panel_->findChild<LayerStrip*>();
    strip->setFocus();
    QTest::keyClick(strip, Qt::Key_Right);
    QCOMPARE(panel_->range(), (ModuleRange{1, 1}));
    QTest::keyClick(strip, Qt::Key_Right);
    QTest::keyClick(strip, Qt::Key_Right, Qt::ShiftModifier);
    QCOMPARE(panel_->range(), (ModuleRange{2, 3}));
    QTest::keyClick(strip, Qt::Key_End, Qt::ShiftModifier);
    QCOMPARE(panel_->range(), (ModuleRange{2, 32}));
    QTest::keyClick(strip, Qt::Key_A, Qt::ControlModifier);
    QCOMPARE(panel_->range(), (ModuleRange{1, 32}));
    QTest::keyClick(strip, Qt::Key_Escape);
    QVERIFY(panel_->range().isEmpty());
  }

  void a_pipeline_has_a_lane_to_a_stage_data() {
    QTest::addColumn<QString>("parallelism");
    QTest::addColumn<int>("lanes");
    QTest::addColumn<QList<int>>("firsts");  // outer modules that begin a stage
    QTest::newRow("none") << "pp = 1" << 0 << QList<int>{};
    QTest::newRow("four stages") << "pp = 4" << 4 << QList<int>{0, 8, 17, 26};
    QTest::newRow("manual") << "pp = 2\nstage_layers = [10, 22]" << 2 << QList<int>{0, 11};
    QTest::newRow("two a rank") << "pp = 4\npp_schedule = \"interleaved\"" << 4
                                << QList<int>{0, 4, 8, 12};
    QTest::newRow("layers that are not there")
        << "pp = 2\nstage_layers = [10, 23]" << 0 << QList<int>{};
  }

  void a_pipeline_has_a_lane_to_a_stage() {
    QFETCH(QString, parallelism);
    QFETCH(QList<int>, firsts);
    document_->load("mine", kText + "[parallelism]\n" + parallelism + "\n[hardware]\nranks = 4\n",
                    {});
    const recipe::Recipe& recipe = document_->resolved().recipe;
    const LayerLanes lanes(recipe, 420, 68);
    QTEST(lanes.lanes(), "lanes");
    for (int lane = 0; lane < firsts.size(); ++lane)
      QVERIFY2(lanes.lane(lane).contains(lanes.cell(firsts[lane])), qPrintable(parallelism));
    for (int module = 0; module < lanes.modules(); ++module) {
      const QRectF cell = lanes.cell(module);
      if (cell.isNull()) continue;
      QVERIFY(QRectF(0, 0, 420, lanes.height()).contains(cell));
      QCOMPARE(lanes.at(cell.center()), module);
    }
    // The embedding and the output have a place where they belong to stages.
    QCOMPARE(!lanes.cell(0).isNull(), lanes.lanes() > 0);
  }

  void layers_of_other_stages_are_reached_by_keys() {
    document_->load("mine", kText + "[parallelism]\npp = 4\n[hardware]\nranks = 4\n", {});
    auto* strip = panel_->findChild<LayerStrip*>();
    click(strip, 0);
    QTest::keyClick(strip, Qt::Key_Down);
    QVERIFY2(panel_->range().first() >= 8 && panel_->range().first() <= 16,
             qPrintable(QString::number(panel_->range().first())));
    QTest::keyClick(strip, Qt::Key_Up);
    QVERIFY(panel_->range().first() < 8);
  }

  void wrapped_together_and_split() {
    choose(1, 4);
    press("wrapTogether");
    QVERIFY2(document_->text().contains("mode = \"manual\"\nbuckets = [\n  [\"tok_embeddings\"],\n"
                                        "  [\"layers.0-3\"],\n  [\"layers.4\"],"),
             qPrintable(document_->text()));
    choose(2, 3);
    press("splitUp");
    QVERIFY(document_->text().contains(
        "[\"layers.0\"],\n  [\"layers.1\"],\n  [\"layers.2\"],\n  [\"layers.3\"],"));
    QVERIFY(document_->faults().empty());
    document_->history()->undo();
    document_->history()->undo();
    QCOMPARE(document_->text(), kText);
  }

  void exceptions_are_made_moved_and_removed() {
    choose(1, 16);
    press("recompute:full");
    QVERIFY(document_->text().contains(
        "\n[[override]]\nmodules = [\"layers.0-15\"]\nrecompute = \"full\"\n"));
    auto* slider = panel_->findChild<LayerSlider*>();
    QVERIFY(slider->isVisible());
    // The right end, by two layers and back by one: one edit.
    const int edits = document_->history()->count();
    const QPoint end(static_cast<int>(slider->bar().right()), 9);
    const int layer = slider->width() / 32;
    drag(slider, end, {end + QPoint(2 * layer, 0), end + QPoint(layer, 0)});
    QVERIFY2(document_->text().contains("modules = [\"layers.0-16\"]"),
             qPrintable(document_->text()));
    QCOMPARE(document_->history()->count(), edits + 1);
    auto* mode = panel_->findChild<QComboBox*>("exceptionMode");
    mode->setCurrentIndex(1);
    Q_EMIT mode->activated(1);
    QVERIFY(document_->text().contains("recompute = \"selective\""));
    QTest::mouseClick(panel_->findChild<QPushButton*>("removeException"), Qt::LeftButton);
    QCOMPARE(document_->text(), kText);
    QVERIFY(!slider->isVisible());
    while (document_->history()->canUndo()) document_->history()->undo();
    QCOMPARE(document_->text(), kText);
  }

  void a_new_exception_is_in_sight() {
    document_->load("mine", kText + "[parallelism]\npp = 8\n[hardware]\nranks = 8\n", {});
    panel_->resize(420, 160);
    auto* more = panel_->findChild<MoreBelow*>();
    QTRY_VERIFY(more->isVisible());
    const QScrollBar* bar = panel_->findChild<QScrollArea*>()->verticalScrollBar();
    QTest::mouseClick(more, Qt::LeftButton);
    QTRY_COMPARE(bar->value(), bar->maximum());
    QVERIFY(!more->isVisible());
    choose(1, 16);
    press("recompute:full");
    auto* slider = panel_->findChild<LayerSlider*>();
    QTRY_COMPARE(slider->visibleRegion(), QRegion(slider->rect()));
    QVERIFY(!more->isVisible());
    // As narrow as at the window's smallest size nothing of it is cut.
    panel_->resize(315, 400);
    for (const char* name : {"exceptionMode", "whatIf", "removeException"}) {
      const auto* part = panel_->findChild<QWidget*>(name);
      QTRY_COMPARE(part->visibleRegion(), QRegion(part->rect()));
      QTRY_VERIFY2(part->width() >= part->minimumSizeHint().width(), name);
    }
    QTest::mouseClick(panel_->findChild<QPushButton*>("removeException"), Qt::LeftButton);
    panel_->resize(420, 600);
    QTRY_VERIFY(!more->isVisible());
  }

  void entries_of_the_menu_say_what_they_set() {
    choose(1, 4);
    auto* strip = panel_->findChild<LayerStrip*>();
    QStringList entries;
    QTimer::singleShot(10, strip, [&] {
      auto* menu = qobject_cast<QMenu*>(QApplication::activePopupWidget());
      QVERIFY(menu);
      for (const QAction* action : menu->actions()) entries << action->text();
      menu->close();
    });
    Q_EMIT strip->menuRequested(strip->mapToGlobal(QPoint(20, 20)));
    QCOMPARE(entries, (QStringList{"Wrap together in a bucket", "Split into a bucket each", "",
                                   "Recompute full", "Recompute selective", "Recompute none"}));
    QCOMPARE(panel_->findChild<QToolButton*>("recompute:full")->text(), QString("Full"));
  }

  void exceptions_of_layers_data() {
    QTest::addColumn<QString>("written");
    QTest::addColumn<QString>("runs");
    QTest::newRow("none") << ""
                          << "";
    QTest::newRow("the first that names a layer counts")
        << "{ modules = [\"layers.0-3\"], recompute = \"full\" }, { modules = [\"layers.2-5\"], "
           "recompute = \"none\" }"
        << "0-3 full, 4-5 none";
    QTest::newRow("neighbours are one")
        << "{ modules = [\"layers.0\", \"layers.1-2\"], recompute = \"full\" }"
        << "0-2 full";
    QTest::newRow("other modules are left alone")
        << "{ modules = [\"layers.0.attention\"], recompute = \"full\" }"
        << "";
    QTest::newRow("a layer that is not there")
        << "{ modules = [\"layers.31-40\"], recompute = \"full\" }"
        << "31-31 full";
  }

  void exceptions_of_layers() {
    QFETCH(QString, written);
    const auto parsed = recipe::parse(
        ("override = [" + written + "]\nmodel.preset = \"llama3-8b\"\n").toStdString(), "r");
    QVERIFY(parsed.ok());
    QStringList runs;
    for (const LayerException& run : layerExceptions(parsed.recipe))
      runs << QString("%1-%2 %3").arg(run.first).arg(run.last).arg(wordOf(run.mode));
    QTEST(runs.join(", "), "runs");
  }

  void what_the_recipe_does_anyway_is_no_exception() {
    auto parsed = recipe::parse(
        "model.preset = \"llama3-8b\"\nrecompute.mode = \"full\"\n[[override]]\nmodules = "
        "[\"norm\"]\n",
        "r");
    QCOMPARE(withLayers(parsed.recipe, 0, 3, RecomputeMode::full).size(), size_t{1});
    parsed.recipe.overrides = withLayers(parsed.recipe, 0, 3, RecomputeMode::none);
    QCOMPARE(parsed.recipe.overrides.size(), size_t{2});
    parsed.recipe.overrides = withLayers(parsed.recipe, 1, 2, RecomputeMode::full);
    QCOMPARE(parsed.recipe.overrides.size(), size_t{3});
    QCOMPARE(parsed.recipe.overrides[2].modules.at(0), std::string("layers.3"));
  }

 private:
  static inline const QString kText =
      "[model]\npreset = \"llama3-8b\"\n[data]\ntoken_ids = \"a\"\n";

  static void click(LayerStrip* strip, int layer, Qt::KeyboardModifiers with = {}) {
    QTest::mouseClick(strip, Qt::LeftButton, with, strip->cellRect(layer).center().toPoint());
  }

  static void drag(QWidget* widget, const QPoint& from, const QList<QPoint>& by) {
    QTest::mousePress(widget, Qt::LeftButton, {}, from);
    for (const QPoint& at : by) QTest::mouseMove(widget, at);
    QTest::mouseRelease(widget, Qt::LeftButton, {}, by.last());
  }

  void choose(int first, int last) { panel_->choose({first, last}, false); }
  void press(const char* name) {
    QTest::mouseClick(panel_->findChild<QToolButton*>(name), Qt::LeftButton);
  }

  std::unique_ptr<RecipeDocument> document_;
  std::unique_ptr<LayersPanel> panel_;
};

HEDDLE_WIDGET_TEST(LayersPanelTest)
#include "layers_panel_test.moc"
