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

using namespace heddle::gui;

class ComposePageTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void initTestCase() { Theme::install(Theme::Mode::dark); }

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
    // What cannot be done looks so.
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
    QVERIFY(tokenizer->property("invalid").toBool());
    tokenizer->setFocus();
    QTest::keyClicks(tokenizer, "/tokenizer.json");
    QVERIFY(page.document().faults().empty());
    QVERIFY(action(page, "launchRecipe")->isEnabled());
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
             QString("The unsaved text of debug.toml was brought back: it stands in Compose"));
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
  static QAction* action(ComposePage& page, const QString& name) {
    for (QAction* action : page.pageActions()) {
      if (action->objectName() == name) return action;
    }
    qFatal("there is no action %s", qPrintable(name));
  }
};

QTEST_MAIN(ComposePageTest)
#include "compose_page_test.moc"
