// The recipe's text follows what is edited elsewhere.
#include "gui/views/compose/recipe_editor.h"

#include <QApplication>
#include <QHelpEvent>
#include <QLabel>
#include <QListWidget>
#include <QScrollBar>
#include <QTest>
#include <QTextBlock>
#include <QToolTip>

#include "gui/theme/theme.h"
#include "gui/views/compose/changed_lines.h"
#include "tests/gui/compose/composed.h"
#include "tests/support/test_class.h"

using namespace heddle::gui;

class RecipeEditorTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void initTestCase() { Theme::install(Theme::Mode::dark); }

  void lines_that_an_edit_has_changed_data() {
    QTest::addColumn<QString>("before");
    QTest::addColumn<QString>("after");
    QTest::addColumn<QList<int>>("lines");
    QTest::addColumn<int>("at");
    QTest::newRow("nothing") << "a\nb"
                             << "a\nb" << QList<int>{} << 1;
    QTest::newRow("a value") << "a = 1\nb = 2\n"
                             << "a = 1\nb = 3\n"
                             << QList<int>{1} << 1;
    QTest::newRow("one more") << "pp = 2\ntp = 8\n"
                              << "pp = 2\npp_x = 1\ntp = 8\n"
                              << QList<int>{1} << 1;
    QTest::newRow("one less") << "a\nb\nc"
                              << "a\nc" << QList<int>{} << 1;
    QTest::newRow("the last goes") << "a\nb"
                                   << "a" << QList<int>{} << 0;
    QTest::newRow("two places") << "a\nb\nc\nd\ne"
                                << "a\nB\nc\nd\nE" << QList<int>{1, 4} << 1;
    QTest::newRow("all") << ""
                         << "a\nb\n"
                         << QList<int>{0, 1} << 0;
    QTest::newRow("two alike") << "x\na"
                               << "x\nx\na" << QList<int>{1} << 1;
  }

  void lines_that_an_edit_has_changed() {
    QFETCH(QString, before);
    QFETCH(QString, after);
    const ChangedLines changed = changedLines(before, after);
    QTEST(changed.lines, "lines");
    QTEST(changed.at, "at");
  }

  void an_edit_elsewhere_is_scrolled_to_and_marked() {
    const auto document = documentOf(longText());
    const auto editor = shown<RecipeEditor>(QSize(440, 240), *document);
    QVERIFY(editor->extraSelections().isEmpty());
    QVERIFY(!isSeen(*editor, "steps = 10"));
    document->setKey("training.steps", "250");
    QVERIFY(isSeen(*editor, "steps = 250"));
    QCOMPARE(marked(*editor), QStringList{"steps = 250"});
    QCOMPARE(editor->textCursor().blockNumber(), 0);
    // Lines that are in sight keep their place.
    const int place = editor->verticalScrollBar()->value();
    document->endEdit();
    document->setKey("training.steps", "300");
    QCOMPARE(editor->verticalScrollBar()->value(), place);
    // An undo is an edit too.
    editor->verticalScrollBar()->setValue(0);
    document->history()->undo();
    QVERIFY(isSeen(*editor, "steps = 250"));
    QCOMPARE(marked(*editor), QStringList{"steps = 250"});
    document->setKeys({{"model.n_layers", "7"}, {"hardware.ranks", "2"}}, "two");
    QCOMPARE(marked(*editor), (QStringList{"n_layers = 7", "[hardware]", "ranks = 2"}));
    QVERIFY(isSeen(*editor, "n_layers = 7"));
  }

  void keys_and_values_are_completed_while_one_types() {
    const auto document = documentOf("[wrapping]\n");
    const auto editor = shown<RecipeEditor>(QSize(700, 400), *document);
    editor->moveCursor(QTextCursor::End);
    auto* list = editor->findChild<QListWidget*>("recipeCompletion");
    QVERIFY(!list->isVisible());
    QTest::keyClicks(editor.get(), "mo");
    QVERIFY(list->isVisible());
    QCOMPARE(list->item(0)->text(), QString("mode"));
    const auto* help = editor->findChild<QLabel*>("completionHelp");
    QVERIFY(help->isVisible());
    QVERIFY2(help->text().contains("gathered together"), qPrintable(help->text()));
    QVERIFY(help->text().contains("default: \"auto\""));
    // The values follow; Down and Enter take one.
    QTest::keyClick(editor.get(), Qt::Key_Tab);
    QCOMPARE(document->text(), QString("[wrapping]\nmode = "));
    QVERIFY(list->isVisible());
    QTest::keyClick(editor.get(), Qt::Key_Down);
    QTest::keyClick(editor.get(), Qt::Key_Return);
    QCOMPARE(document->text(), QString("[wrapping]\nmode = \"layers\""));
    QVERIFY(!list->isVisible());
    QVERIFY(document->faults().empty() || document->mistakes() == 0);
    // Each is an edit of its own.
    document->history()->undo();
    QCOMPARE(document->text(), QString("[wrapping]\nmode = "));
  }

  void enter_is_a_new_line_where_nothing_is_offered() {
    const auto document = documentOf("[training]\n");
    const auto editor = shown<RecipeEditor>(QSize(700, 400), *document);
    editor->moveCursor(QTextCursor::End);
    auto* list = editor->findChild<QListWidget*>("recipeCompletion");
    QTest::keyClicks(editor.get(), "steps = 1");
    QVERIFY(!list->isVisible());
    QTest::keyClick(editor.get(), Qt::Key_Return);
    QCOMPARE(document->text(), QString("[training]\nsteps = 1\n"));
    // A key that is asked for, and one that nobody wants.
    QTest::keyClick(editor.get(), Qt::Key_Space, Qt::ControlModifier);
    QVERIFY(list->isVisible());
    QTest::keyClick(editor.get(), Qt::Key_Escape);
    QVERIFY(!list->isVisible());
    QTest::keyClicks(editor.get(), "se");
    QVERIFY(list->isVisible());
    QTest::keyClick(editor.get(), Qt::Key_Left);
    QVERIFY(!list->isVisible());
    QCOMPARE(document->text(), QString("[training]\nsteps = 1\nse"));
  }

  void an_unknown_key_is_offered_as_what_was_meant() {
    const auto document = documentOf("[training]\nstpes = 5\n");
    const auto editor = shown<RecipeEditor>(QSize(700, 400), *document);
    const heddle::recipe::Fault* fault = document->faultOf("training.stpes");
    QVERIFY(fault != nullptr);
    QCOMPARE(QString::fromStdString(fault->suggestion), QString("training.steps"));
    editor->goTo(2, 6);
    QTest::keyClick(editor.get(), Qt::Key_Space, Qt::ControlModifier);
    QTest::keyClick(editor.get(), Qt::Key_Return);
    QCOMPARE(document->text(), QString("[training]\nsteps = 5\n"));
    QCOMPARE(document->mistakes(), 0);
  }

  void the_pointer_and_f1_show_a_key_s_help() {
    const auto document = documentOf("# mine\n[training]\nmax_norm = 1.0\n");
    const auto editor = shown<RecipeEditor>(QSize(700, 400), *document);
    editor->goTo(3, 3);
    const QPoint at = editor->viewport()->mapTo(editor.get(), editor->cursorRect().center());
    QHelpEvent rests(QEvent::ToolTip, at, editor->mapToGlobal(at));
    QApplication::sendEvent(editor.get(), &rests);
    QTRY_VERIFY(QToolTip::text().contains("Gradients with a larger norm"));
    QVERIFY(QToolTip::text().contains("training.max_norm; valid: 0 or more; default: 1.0"));
    QToolTip::hideText();
    QTRY_VERIFY(!QToolTip::isVisible());
    QTest::keyClick(editor.get(), Qt::Key_F1, Qt::ShiftModifier);
    QVERIFY(QToolTip::text().contains("Gradients with a larger norm"));
    QToolTip::hideText();
    // F1 alone is the page's help.
    QKeyEvent override(QEvent::ShortcutOverride, Qt::Key_F1, Qt::NoModifier);
    override.ignore();
    QApplication::sendEvent(editor.get(), &override);
    QVERIFY(!override.isAccepted());
  }

  void marks_go_with_typing_and_with_another_recipe() {
    const auto document = documentOf(longText());
    const auto editor = shown<RecipeEditor>(QSize(440, 240), *document);
    document->setKey("training.steps", "250");
    QTest::keyClicks(editor.get(), " ");
    QVERIFY(editor->extraSelections().isEmpty());
    document->setKey("training.steps", "300");
    QVERIFY(!editor->extraSelections().isEmpty());
    document->load("other", longText().replace("10", "20"), {});
    QVERIFY(editor->extraSelections().isEmpty());
    QCOMPARE(editor->verticalScrollBar()->value(), 0);
  }

 private:
  static QString longText() {
    QString text =
        "[model]\npreset = \"llama3-debug\"\nn_layers = 4\n[data]\ntext = [\"corpus.txt\"]\n"
        "tokenizer = \"tokenizer.json\"\n";
    for (int i = 0; i < 60; ++i) text += QStringLiteral("# line %1\n").arg(i);
    return text + "[training]\nsteps = 10\n";
  }

  static bool isSeen(RecipeEditor& editor, const QString& line) {
    const QTextCursor found = editor.document()->find(line);
    return !found.isNull() && editor.viewport()->rect().contains(editor.cursorRect(found));
  }

  static QStringList marked(const RecipeEditor& editor) {
    QStringList lines;
    for (const auto& mark : editor.extraSelections()) lines << mark.cursor.block().text();
    return lines;
  }
};

HEDDLE_WIDGET_TEST(RecipeEditorTest)
#include "recipe_editor_test.moc"
