// The Compose page at sizes large and small, in both themes: what is drawn, what is in reach.
#include <QLineEdit>
#include <QSpinBox>
#include <QTest>
#include <QToolButton>

#include "gui/theme/theme.h"
#include "gui/timeline/timeline_legend.h"
#include "gui/views/compose/bucket_bands.h"
#include "gui/views/compose/layers_panel.h"
#include "gui/views/compose/model_panel.h"
#include "tests/gui/compose/composed.h"
#include "tests/support/test_class.h"

using namespace heddle::gui;

class ComposeSizesTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void initTestCase() { Theme::install(Theme::Mode::dark); }

  void init() {
    document_ = documentOf(
        "[model]\npreset = \"llama3-debug\"\nn_layers = 4\nvocab_size = 512\n[data]\n"
        "text = [\"corpus.txt\"]\ntokenizer = \"tokenizer.json\"\n[hardware]\nranks = 8\n");
    planner_ = std::make_unique<PlanClient>(QStringLiteral(HEDDLE_BINARY_DIR "/heddle-engine"));
    prediction_ = std::make_unique<RecipePrediction>(*document_, *planner_);
    view_ = shown<ComposeView>(QSize(1536, 924), *document_, *prediction_);
  }

  void cleanup() {
    view_.reset();
    prediction_.reset();
    planner_.reset();
    document_.reset();
  }

  void every_size_and_theme_is_drawn_data() {
    QTest::addColumn<QSize>("size");
    QTest::newRow("large") << QSize(1536, 924);
    QTest::newRow("small") << QSize(1036, 624);
  }

  void every_size_and_theme_is_drawn() {
    QFETCH(QSize, size);
    view_->resize(size);
    for (const auto mode : {Theme::Mode::light, Theme::Mode::dark}) {
      Theme::instance().setMode(mode);
      QCoreApplication::processEvents();
      const QImage picture = view_->grab().toImage();
      QCOMPARE(picture.size(), size * picture.devicePixelRatio());
      // The model is drawn in the theme's colours, where there is room for it.
      const QWidget* model = view_->findChild<QWidget*>("model");
      QVERIFY(model->isVisible() || size.width() < 1200);
      if (!model->isVisible()) continue;
      const QPoint corner = model->mapTo(view_.get(), QPoint(4, 8));
      QCOMPARE(picture.pixelColor(corner), colors().raised);
    }
    // No field is cut off: each shows its number whole.
    document_->setKeys(
        {{"model.preset", "\"llama3-405b\""}, {"model.n_layers", {}}, {"model.vocab_size", {}}},
        "preset");
    for (const char* name : {"model.dim", "model.ffn_dim", "model.vocab_size"}) {
      const auto* line = field<QSpinBox>(name)->findChild<QLineEdit*>();
      QVERIFY(line->text().size() >= 6);
      QVERIFY2(line->fontMetrics().horizontalAdvance(line->text()) <= line->width(), name);
    }
  }

  void at_a_small_size_nothing_that_explains_or_acts_is_cut() {
    view_->resize(1224, 690);
    predict();
    const auto* legend = view_->findChild<TimelineLegend*>();
    QTRY_VERIFY(legend->isVisible() && legend->width() >= legend->sizeHint().width());
    const auto* layers = view_->findChild<LayersPanel*>();
    for (const QToolButton* button : layers->findChildren<QToolButton*>()) {
      QTRY_VERIFY2(button->width() >= button->sizeHint().width(), qPrintable(button->objectName()));
      const QRect at(button->mapTo(layers, QPoint()), button->size());
      QVERIFY2(layers->rect().contains(at), qPrintable(button->objectName()));
    }
  }

  void at_the_smallest_size_nothing_covers_the_form() {
    view_->resize(976, 564);  // of a window of 1040x640
    const auto* form = view_->findChild<RecipeForm*>();
    const auto* model = view_->findChild<ModelPanel*>();
    const auto place = [this](const QWidget* part) {
      return QRect(part->mapTo(view_.get(), QPoint()), part->size());
    };
    QTRY_VERIFY(!place(form).intersects(place(model)));
    QVERIFY(!place(view_->findChild<PredictionPanel*>()).intersects(place(model)));
    const auto* arrows = field<QSpinBox>("model.vocab_size");
    QVERIFY(place(form).contains(place(arrows)));
  }

  void layers_can_be_chosen_where_there_is_no_room_for_the_picture() {
    view_->resize(1036, 884);  // of a window of 1100x960
    const auto* strip = view_->findChild<LayerStrip*>();
    QTRY_VERIFY(!view_->findChild<QWidget*>("model")->isVisible());
    QTRY_COMPARE(strip->visibleRegion(), QRegion(strip->rect()));
    for (const char* name : {"wrapTogether", "recompute:none"}) {
      const auto* button = field<QToolButton>(name);
      QTRY_COMPARE(button->visibleRegion(), QRegion(button->rect()));
    }
    // The buckets are below, with room for several.
    QTRY_VERIFY(field<BucketBands>("buckets")->visibleRegion().boundingRect().height() > 60);
    view_->resize(1536, 924);
    QTRY_VERIFY(view_->findChild<QWidget*>("model")->isVisible());
  }

 private:
  template <typename T>
  T* field(const char* name) {
    T* found = view_->findChild<T*>(QString::fromLatin1(name));
    if (found == nullptr) qFatal("there is no %s", name);
    return found;
  }

  void predict() {
    prediction_->start();
    QTRY_VERIFY_WITH_TIMEOUT(!prediction_->isPlanning(), 60000);
  }

  std::unique_ptr<RecipeDocument> document_;
  std::unique_ptr<PlanClient> planner_;
  std::unique_ptr<RecipePrediction> prediction_;
  std::unique_ptr<ComposeView> view_;
};

HEDDLE_WIDGET_TEST(ComposeSizesTest)
#include "compose_sizes_test.moc"
