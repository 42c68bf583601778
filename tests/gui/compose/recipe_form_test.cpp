// The form by itself: every key is in it, found, explained and mended by pointing.
#include "gui/views/compose/recipe_form.h"

#include <QComboBox>
#include <QLineEdit>
#include <QPushButton>
#include <QSpinBox>
#include <QStyle>
#include <QStyleOptionSpinBox>
#include <QTest>

#include "gui/theme/theme.h"
#include "gui/views/compose/step_boxes.h"
#include "tests/gui/compose/composed.h"
#include "tests/support/test_class.h"

using namespace heddle;
using namespace heddle::gui;

class RecipeFormTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void initTestCase() { Theme::install(Theme::Mode::dark); }

  void init() {
    document_ = documentOf(
        "[model]\npreset = \"llama3-8b\"\n[data]\ntoken_ids = \"a\"\n[hardware]\nranks = 8\n");
    form_ = shown<RecipeForm>(QSize(372, 900), *document_);
  }

  void cleanup() {
    form_.reset();
    document_.reset();
  }

  void every_key_is_in_a_group() {
    for (const recipe::KeyInfo& info : recipe::keys()) {
      const bool written = document_->isWritten(QString::fromStdString(info.key));
      QCOMPARE(isShown(info.key), !info.drawn && (info.often || written));
    }
    unfoldAll();
    for (const recipe::KeyInfo& info : recipe::keys()) {
      const bool offered = !info.drawn && recipe::applies(info, document_->resolved().recipe);
      QVERIFY2(isShown(info.key) == offered, info.key.c_str());
      if (!offered) continue;
      const auto* editor = form_->findChild<QWidget*>(QString::fromStdString(info.key));
      QVERIFY(
          editor->toolTip().simplified().contains(QString::fromStdString(info.help).simplified()));
      QCOMPARE(editor->accessibleName(), QString::fromStdString(info.label));
    }
  }

  void a_group_folds() {
    auto* head = form_->findChild<QPushButton*>("group:Timeouts");
    QCOMPARE(head->text(), QString("Timeouts   + 3"));
    QTest::mouseClick(head, Qt::LeftButton);
    QVERIFY(isShown("timeouts.step"));
    document_->setKey("timeouts.step", "5");
    QTest::mouseClick(head, Qt::LeftButton);
    QVERIFY(isShown("timeouts.step"));  // what the recipe says is in sight
    QVERIFY(!isShown("timeouts.start"));
  }

  void tab_goes_through_the_fields_as_they_stand() {
    QTest::mouseClick(form_->findChild<QPushButton*>("group:Data"), Qt::LeftButton);
    QCoreApplication::processEvents();  // they stand where they will
    form_->activateWindow();
    QVERIFY(QTest::qWaitForWindowActive(form_.get()));
    form_->findChild<QLineEdit*>("searchKeys")->setFocus();
    const QWidget* last = QApplication::focusWidget();
    for (int i = 0; i < 40; ++i) {
      QTest::keyClick(QApplication::focusWidget(), Qt::Key_Tab);
      const QWidget* now = QApplication::focusWidget();
      const QPoint before = last->mapTo(form_.get(), QPoint()),
                   here = now->mapTo(form_.get(), QPoint());
      QVERIFY2(here.y() > before.y() + 8 || here.x() > before.x(),
               qPrintable(QString("%1 (%2, %3) after %4 (%5, %6)")
                              .arg(now->objectName())
                              .arg(here.x())
                              .arg(here.y())
                              .arg(last->objectName())
                              .arg(before.x())
                              .arg(before.y())));
      last = now;
    }
  }

  void a_search_finds_keys_and_words() {
    auto* search = form_->findChild<QLineEdit*>("searchKeys");
    QTest::keyClicks(search, "silent");
    QVERIFY(isShown("timeouts.start"));
    QVERIFY(!isShown("training.steps"));
    QVERIFY(!form_->findChild<QPushButton*>("group:Training")->isVisible());
    search->clear();
    QVERIFY(isShown("training.steps"));
    QVERIFY(!isShown("timeouts.start"));
  }

  void keys_of_another_optimizer_are_not_offered() {
    unfoldAll();
    document_->setKey("optimizer.betas", "[0.8, 0.9]");
    document_->setKey("optimizer.name", "\"sgd\"");
    QVERIFY(isShown("optimizer.momentum") && isShown("optimizer.nesterov"));
    QVERIFY(!isShown("optimizer.eps"));
    // A written one is a fault, which its field shows.
    QVERIFY(isShown("optimizer.betas"));
    QVERIFY(document_->faultOf("optimizer.betas") != nullptr);
    while (document_->history()->canUndo()) document_->history()->undo();
    QVERIFY(isShown("optimizer.eps") && !isShown("optimizer.momentum"));
  }

  void every_field_sets_its_key() {
    unfoldAll();
    for (const recipe::KeyInfo& info : recipe::keys()) {
      if (info.drawn || !recipe::applies(info, document_->resolved().recipe)) continue;
      const QString key = QString::fromStdString(info.key);
      auto* editor = form_->findChild<QWidget*>(key);
      const QString before = document_->text();
      if (auto* box = qobject_cast<QAbstractSpinBox*>(editor)) {
        box->stepBy(1);
      } else if (auto* combo = qobject_cast<QComboBox*>(editor)) {
        const int next = (combo->currentIndex() + 1) % combo->count();
        combo->setCurrentIndex(next);
        Q_EMIT combo->activated(next);
      } else {
        auto* line = qobject_cast<QLineEdit*>(editor);
        QVERIFY2(line, info.key.c_str());
        line->setFocus();
        line->selectAll();
        QTest::keyClicks(line, info.type == "list" && info.files.empty() ? "0.5, 1" : "x");
      }
      QVERIFY2(document_->text() != before, info.key.c_str());
      QVERIFY2(document_->isWritten(key) || key == "model.preset", info.key.c_str());
      while (document_->history()->canUndo()) document_->history()->undo();
      QCOMPARE(document_->text(), before);
    }
  }

  void steppers_go_where_one_wants_to_go_data() {
    QTest::addColumn<double>("from");
    QTest::addColumn<int>("step");
    QTest::addColumn<double>("up");
    QTest::addColumn<double>("down");
    QTest::newRow("degrees") << 8.0 << int(recipe::Step::doubling) << 16.0 << 4.0;
    QTest::newRow("one rank") << 1.0 << int(recipe::Step::doubling) << 2.0 << 0.0;
    QTest::newRow("what is left") << -1.0 << int(recipe::Step::doubling) << 0.0 << -2.0;
    QTest::newRow("layers") << 16.0 << int(recipe::Step::one) << 17.0 << 15.0;
    QTest::newRow("few steps") << 9.0 << int(recipe::Step::digit) << 10.0 << 8.0;
    QTest::newRow("steps") << 10.0 << int(recipe::Step::digit) << 20.0 << 9.0;
    QTest::newRow("many steps") << 100.0 << int(recipe::Step::digit) << 200.0 << 90.0;
    QTest::newRow("odd steps") << 250.0 << int(recipe::Step::digit) << 300.0 << 200.0;
  }

  void steppers_go_where_one_wants_to_go() {
    QFETCH(double, from);
    QFETCH(int, step);
    QTEST(nextValue(from, 1, static_cast<recipe::Step>(step)), "up");
    QTEST(nextValue(from, -1, static_cast<recipe::Step>(step)), "down");
  }

  void numbers_step_by_their_leading_digit() {
    auto* lr = form_->findChild<QDoubleSpinBox*>("optimizer.lr");
    lr->stepUp();
    QCOMPARE(document_->value("optimizer.lr"), QString("4e-4"));
    for (int i = 0; i < 5; ++i) lr->stepDown();
    QCOMPARE(document_->value("optimizer.lr"), QString("8e-5"));
    unfoldAll();
    auto* limit = form_->findChild<QDoubleSpinBox*>("wrapping.memory_limit");
    QCOMPARE(limit->text(), QString("none"));
    limit->stepUp();
    limit->stepUp();
    QCOMPARE(document_->value("wrapping.memory_limit"), QString("\"2 GiB\""));
  }

  void a_fault_offers_what_would_be_right() {
    auto* tp = form_->findChild<QSpinBox*>("parallelism.tp");
    tp->setFocus();
    tp->selectAll();
    QTest::keyClicks(tp, "3");
    auto* bubble = form_->findChild<QLabel*>("bubble");
    QVERIFY(bubble->isVisible());
    QVERIFY2(bubble->text().contains("href=\"parallelism.tp=4\""), qPrintable(bubble->text()));
    QVERIFY(bubble->text().contains("href=\"parallelism.tp=2\""));
    Q_EMIT bubble->linkActivated("parallelism.tp=4");
    QVERIFY(document_->faults().empty());
    QCOMPARE(tp->value(), 4);
    QVERIFY(!bubble->isVisible());
    document_->history()->undo();
    QCOMPARE(tp->value(), 3);
  }

  void what_train_refuses_is_told_at_its_field() {
    document_->setKey("parallelism.async_tp", "true");
    auto* field = form_->findChild<QComboBox*>("parallelism.async_tp");
    QVERIFY(field->isVisible());
    QVERIFY(field->property("invalid").toBool());
    field->setFocus();
    QVERIFY(form_->findChild<QLabel*>("bubble")->text().contains("does not train with async_tp"));
  }

  void words_in_fields_are_whole() {
    unfoldAll();
    for (const auto* box : form_->findChildren<QComboBox*>())
      for (int i = 0; i < box->count(); ++i)
        QVERIFY2(box->fontMetrics().horizontalAdvance(box->itemText(i)) <= box->width() - 30,
                 qPrintable(QString("%1: %2").arg(box->objectName(), box->itemText(i))));
    for (const auto* box : form_->findChildren<QSpinBox*>()) {
      const auto* line = box->findChild<QLineEdit*>();
      QVERIFY2(line->fontMetrics().horizontalAdvance(box->specialValueText()) <= line->width(),
               qPrintable(box->objectName()));
      QVERIFY2(line->fontMetrics().horizontalAdvance("131,072") <= line->width(),
               qPrintable(box->objectName()));
    }
    for (const auto* name : form_->findChildren<QLabel*>())
      if (name->isVisible() && name->buddy() != nullptr)
        QVERIFY2(name->sizeHint().width() <= name->width(), qPrintable(name->text()));
  }

  void an_empty_recipe_has_all_defaults() {
    document_->load("new", {}, {});
    QVERIFY(document_->isReadable());
    QCOMPARE(form_->firstFaulty()->objectName(), QString("model.preset"));
    QCOMPARE(form_->findChild<QSpinBox*>("training.steps")->value(), 100);
  }

 private:
  bool isShown(const std::string& key) const {
    const auto* editor = form_->findChild<QWidget*>(QString::fromStdString(key));
    return editor != nullptr && editor->isVisible();
  }

  void unfoldAll() {
    for (auto* head : form_->findChildren<QPushButton*>())
      if (head->objectName().startsWith("group:") && head->text().contains('+'))
        QTest::mouseClick(head, Qt::LeftButton);
    QCoreApplication::processEvents();
  }

  std::unique_ptr<RecipeDocument> document_;
  std::unique_ptr<RecipeForm> form_;
};

HEDDLE_WIDGET_TEST(RecipeFormTest)
#include "recipe_form_test.moc"
