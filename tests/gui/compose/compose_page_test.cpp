// The Compose page as the window holds it: first recipe, actions, hand-over to Launch, what
// survives.
#include "gui/views/compose/compose_page.h"

#include <QAction>
#include <QApplication>
#include <QComboBox>
#include <QDialog>
#include <QFile>
#include <QLabel>
#include <QLineEdit>
#include <QPlainTextEdit>
#include <QPushButton>
#include <QSignalSpy>
#include <QTemporaryDir>
#include <QTest>
#include <QTimer>

#include "gui/session.h"
#include "gui/theme/theme.h"
#include "gui/views/launch/launch_page.h"
#include "tests/support/test_class.h"

using namespace heddle::gui;

class ComposePageTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void initTestCase() {
    Theme::install(Theme::Mode::dark);
    QVERIFY(settings_.isValid());
    qputenv("XDG_CONFIG_HOME", settings_.path().toUtf8());
  }

  void begins_with_a_sample_that_can_be_launched() {
    QTemporaryDir folder;
    Session session(folder.filePath("store.sqlite"));
    ComposePage page(session);
    page.show();
    page.activated();
    QCOMPARE(page.document().name(), QString("debug"));
    QSignalSpy launched(&session, &Session::recipeRequested);
    action(page, "launchRecipe")->trigger();
    QCOMPARE(launched.count(), 1);
    QCOMPARE(launched[0][0].toString(), QString("launch"));
    QCOMPARE(launched[0][1].toString(), QString("debug"));
    QCOMPARE(launched[0][2].toString(), page.document().text());
    QVERIFY(launched[0][3].toString().endsWith("recipes/debug.toml"));
  }

  void actions_follow_the_recipe() {
    QTemporaryDir folder;
    Session session(folder.filePath("store.sqlite"));
    ComposePage page(session);
    page.show();
    page.activated();
    QVERIFY(!action(page, "undo")->isEnabled());
    page.document().setKey("parallelism.tp", "3");
    QVERIFY(!action(page, "launchRecipe")->isEnabled());
    QVERIFY(action(page, "undo")->isEnabled());
    QCOMPARE(page.subtitle(), QString("debug, edited"));
    action(page, "undo")->trigger();
    QVERIFY(action(page, "launchRecipe")->isEnabled());
    QVERIFY(action(page, "redo")->isEnabled());
    page.hide();  // another page is shown: its keys are not for the recipe
    QVERIFY(!action(page, "redo")->isEnabled());
    QVERIFY(!action(page, "launchRecipe")->isEnabled());
  }

  void undo_says_what_it_undoes() {
    QTemporaryDir folder;
    Session session(folder.filePath("store.sqlite"));
    ComposePage page(session);
    page.show();
    page.activated();
    QCOMPARE(action(page, "undo")->text(), QString("Undo"));
    page.document().setKey("training.local_batch", "4");
    QCOMPARE(action(page, "undo")->text(), QString("Undo local_batch 2 → 4"));
    action(page, "undo")->trigger();
    QVERIFY(!action(page, "undo")->isEnabled());
    QCOMPARE(action(page, "redo")->text(), QString("Redo local_batch 2 → 4"));
    // A disabled action looks disabled.
    const QIcon icon = action(page, "undo")->icon();
    QVERIFY(icon.pixmap(16, QIcon::Normal).toImage() != icon.pixmap(16, QIcon::Disabled).toImage());
  }

  void a_new_recipe_says_what_is_missing() {
    QTemporaryDir folder;
    Session session(folder.filePath("store.sqlite"));
    ComposePage page(session);
    page.show();
    page.activated();
    QVERIFY(QTest::qWaitForWindowActive(&page));
    action(page, "newRecipe")->trigger();
    QCOMPARE(page.subtitle(), QString("new recipe"));
    QVERIFY(page.document().file().isEmpty());
    QVERIFY(!page.document().isEdited());
    QVERIFY(!action(page, "launchRecipe")->isEnabled());
    QVERIFY(page.document().text().isEmpty());
    auto* preset = page.findChild<QComboBox*>("model.preset");
    QCOMPARE(QApplication::focusWidget(), preset);
    QVERIFY(page.findChild<QLabel*>("bubble")->isVisible());
    QVERIFY(page.findChild<QLabel*>("bubble")->text().contains("no model is named"));
    QTest::keyClick(preset, Qt::Key_Down);
    auto* text = page.findChild<QLineEdit*>("data.text");
    text->setFocus();
    QVERIFY(page.findChild<QLabel*>("bubble")->text().contains("no data is named"));
    QTest::keyClicks(text, "/corpus.txt");
    auto* tokenizer = page.findChild<QLineEdit*>("data.tokenizer");
    QVERIFY(!tokenizer->property("invalid").toBool());  // a question, not a mistake
    QCOMPARE(page.findChild<QLabel*>("verdict")->text(), QString("1 key to fill in"));
    tokenizer->setFocus();
    QTest::keyClicks(tokenizer, "/tokenizer.json");
    QVERIFY(page.document().faults().empty());
    QVERIFY(action(page, "launchRecipe")->isEnabled());
  }

  void a_new_recipe_is_calm() {
    QTemporaryDir folder;
    Session session(folder.filePath("store.sqlite"));
    ComposePage page(session);
    page.resize(1280, 800);
    page.show();
    page.activated();
    QVERIFY(QTest::qWaitForWindowActive(&page));
    action(page, "newRecipe")->trigger();
    auto* verdict = page.findChild<QLabel*>("verdict");
    QCOMPARE(verdict->text(), QString("2 keys to fill in"));
    QCOMPARE(verdict->property("tone").toString(), QString("muted"));
    for (const QWidget* each : page.findChildren<QWidget*>())
      QVERIFY2(!each->property("invalid").toBool(), qPrintable(each->objectName()));
    QVERIFY(page.findChild<QPlainTextEdit*>()->extraSelections().isEmpty());
    // The fields that it asks for can be seen and clicked.
    const auto* bubble = page.findChild<QLabel*>("bubble");
    QVERIFY(bubble->isVisible());
    QCOMPARE(bubble->property("role").toString(), QString("hint-bubble"));
    const QRect covered(bubble->mapTo(&page, QPoint()), bubble->size());
    for (const char* key : {"model.preset", "model.dim", "model.n_layers", "data.text"}) {
      const auto* field = page.findChild<QWidget*>(key);
      QVERIFY2(!covered.intersects(QRect(field->mapTo(&page, QPoint()), field->size())), key);
    }
    // A value that cannot be is a mistake.
    page.document().setKey("training.steps", "0");
    QVERIFY(page.findChild<QWidget*>("training.steps")->property("invalid").toBool());
    QCOMPARE(verdict->text(), QString("1 fault"));
    QCOMPARE(verdict->property("tone").toString(), QString("bad"));
  }

  void a_restart_opens_the_last_file() {
    QTemporaryDir folder;
    const QString file = folder.filePath("mine.toml");
    QVERIFY(QFile::copy(HEDDLE_SOURCE_DIR "/resources/recipes/debug.toml", file));
    QJsonObject kept;
    {
      Session session(folder.filePath("store.sqlite"));
      ComposePage page(session);
      page.keepLayout();
      page.activated();
      QVERIFY(page.document().open(file).has_value());
      QCOMPARE(session.currentRecipe().file, file);
      kept = page.keptState();
    }
    Session session(folder.filePath("store.sqlite"));
    ComposePage page(session);
    page.restoreState(kept);
    page.keepLayout();
    QCOMPARE(page.document().file(), file);
    QVERIFY(QFile::remove(file));
    Session third(folder.filePath("store.sqlite"));
    ComposePage without(third);
    without.restoreState(kept);
    without.keepLayout();
    QCOMPARE(without.document().name(), QString("debug"));
  }

  void a_restart_shows_a_runs_recipe_again() {
    QTemporaryDir folder;
    Session session(folder.filePath("store.sqlite"));
    ComposePage page(session);
    page.restoreState({{"name", "night"}, {"text", "[model]\npreset = \"llama3-8b\"\n"}});
    page.keepLayout();
    QCOMPARE(page.document().name(), QString("night"));
    QVERIFY(page.document().text().contains("llama3-8b") && !page.document().isEdited());
  }

  void launch_and_compose_work_on_one_recipe() {
    QTemporaryDir folder;
    Session session(folder.filePath("store.sqlite"));
    ComposePage compose(session);
    LaunchPage launch(session);
    compose.show();
    compose.activated();
    compose.document().setKey("training.steps", "7");
    launch.show();
    launch.activated();
    QCOMPARE(launch.findChild<QComboBox*>("recipe")->currentText(), QString("debug.toml"));
    QVERIFY(launch.findChild<QPlainTextEdit*>()->toPlainText().contains("steps = 7"));
    // Unsaved text stays in Compose whatever Launch shows.
    launch.showRecipe("other", "[model]\n", "/other.toml");
    compose.activated();
    QCOMPARE(compose.document().name(), QString("debug"));
    compose.document().discardChanges();
    launch.activated();
    QCOMPARE(launch.findChild<QComboBox*>("recipe")->currentText(), QString("debug.toml"));
    launch.showRecipe("other", "[model]\n", "/other.toml");
    compose.activated();
    QCOMPARE(compose.document().name(), QString("other"));
  }

  void unsaved_text_is_asked_about_data() {
    QTest::addColumn<QString>("answer");
    QTest::addColumn<QString>("then");
    QTest::newRow("discard") << "discard"
                             << "new recipe";
    QTest::newRow("cancel") << "cancel"
                            << "mine";
    QTest::newRow("escape") << ""
                            << "mine";
    QTest::newRow("save") << "save"
                          << "new recipe";
  }
  void unsaved_text_is_asked_about() {
    QFETCH(QString, answer);
    QTemporaryDir folder;
    const QString file = folder.filePath("mine.toml");
    QVERIFY(QFile::copy(HEDDLE_SOURCE_DIR "/resources/recipes/debug.toml", file));
    QVERIFY(QFile(file).setPermissions(QFile::ReadOwner | QFile::WriteOwner));
    Session session(folder.filePath("store.sqlite"));
    ComposePage page(session);
    page.show();
    page.activated();
    QVERIFY(page.document().open(file).has_value());
    page.document().setKey("training.local_batch", "4");
    bool asked = false;
    QTimer::singleShot(0, &page, [&] {
      auto* dialog = qobject_cast<QDialog*>(QApplication::activeModalWidget());
      if (dialog == nullptr) return;
      asked = true;
      QCOMPARE(dialog->findChild<QLabel*>("changes")->text(),
               QString("training.local_batch  2 → 4"));
      QVERIFY(dialog->findChild<QPushButton*>("save")->isDefault());
      if (answer.isEmpty()) return dialog->reject();
      dialog->findChild<QPushButton*>(answer)->click();
    });
    action(page, "newRecipe")->trigger();
    QVERIFY(asked);
    QTEST(page.document().name(), "then");
    QFile saved(file);
    QVERIFY(saved.open(QIODevice::ReadOnly));
    QCOMPARE(saved.readAll().contains("local_batch = 4"), answer == "save");
  }

  void unsaved_text_comes_back() {
    QTemporaryDir folder;
    QString text;
    {
      Session session(folder.filePath("store.sqlite"));
      ComposePage page(session);
      page.activated();
      page.document().setKey("training.steps", "7");
      text = page.document().text();
    }
    Session session(folder.filePath("store.sqlite"));
    QSignalSpy offered(&session, &Session::offered);
    ComposePage page(session);
    page.keepLayout();  // the window begins, with whichever page
    QCOMPARE(page.document().text(), text);
    QCOMPARE(page.subtitle(), QString("debug, edited"));
    page.activated();
    QCOMPARE(offered.count(), 1);
    QCOMPARE(offered[0][0].toString(),
             QString("Your unsaved changes to debug.toml are back in Compose"));
    QCOMPARE(offered[0][1].toString(), QString("Discard"));
    offered[0][2].value<std::function<void()>>()();
    QVERIFY(!page.document().isEdited());
    page.document().history()->undo();  // after all
    QCOMPARE(page.document().text(), text);
  }

  void a_place_is_marked_until_the_cursor_leaves_it() {
    QTemporaryDir folder;
    Session session(folder.filePath("store.sqlite"));
    ComposePage page(session);
    page.resize(1400, 900);
    page.show();
    page.activated();
    auto* editor = page.findChild<QPlainTextEdit*>();
    QVERIFY(editor->extraSelections().isEmpty());
    page.showPlace(3, 1);
    QCOMPARE(editor->textCursor().blockNumber(), 2);
    QCOMPARE(editor->extraSelections().size(), 1);
    editor->moveCursor(QTextCursor::Start);
    QVERIFY(editor->extraSelections().isEmpty());
  }

  void a_picture_leaves_the_unsaved_text_alone() {
    QTemporaryDir folder;
    Session session(folder.filePath("store.sqlite"));
    ComposePage page(session);
    page.activated();
    page.document().setKey("training.steps", "7");
    const QString kept = folder.filePath("store.sqlite.unsaved-recipe.json");
    QTRY_VERIFY(QFile::exists(kept));
    {
      ComposePage picture(session);
      picture.setAttribute(Qt::WA_DontShowOnScreen);
      picture.showRecipe("other", "[model]\n", "/other.toml");
      QCOMPARE(picture.document().name(), QString("other"));
    }
    QVERIFY(QFile::exists(kept));
  }

 private:
  QTemporaryDir settings_;

  static QAction* action(ComposePage& page, const QString& name) {
    for (QAction* action : page.pageActions()) {
      if (action->objectName() == name) return action;
    }
    qFatal("there is no action %s", qPrintable(name));
  }
};

HEDDLE_WIDGET_TEST(ComposePageTest)
#include "compose_page_test.moc"
