// The Compose page as the window holds it: first recipe, actions, hand-over to Launch, what
// survives.
#include "gui/views/compose/compose_page.h"

#include <QAction>
#include <QSignalSpy>
#include <QTemporaryDir>
#include <QTest>

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
    action(page, "Launch")->trigger();
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
    QVERIFY(!action(page, "Undo")->isEnabled());
    page.document().setKey("parallelism.tp", "3");
    QVERIFY(!action(page, "Launch")->isEnabled());
    QVERIFY(action(page, "Undo")->isEnabled());
    QCOMPARE(page.subtitle(), QString("debug, edited"));
    action(page, "Undo")->trigger();
    QVERIFY(action(page, "Launch")->isEnabled());
    QVERIFY(action(page, "Redo")->isEnabled());
    page.hide();  // another page is shown: its keys are not for the recipe
    QVERIFY(!action(page, "Redo")->isEnabled());
    QVERIFY(!action(page, "Launch")->isEnabled());
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
    ComposePage page(session);
    page.activated();
    QCOMPARE(page.document().text(), text);
    QCOMPARE(page.subtitle(), QString("debug, edited"));
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
  static QAction* action(ComposePage& page, const QString& text) {
    for (QAction* action : page.pageActions()) {
      if (action->text() == text) return action;
    }
    qFatal("there is no action %s", qPrintable(text));
  }
};

QTEST_MAIN(ComposePageTest)
#include "compose_page_test.moc"
