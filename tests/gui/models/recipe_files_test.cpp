// Facts from a recipe's files, while the asking thread goes on.
#include "gui/models/recipe_files.h"

#include <sys/stat.h>

#include <QFile>
#include <QSignalSpy>
#include <QTemporaryDir>
#include <QTest>

#include "tests/support/test_class.h"

using namespace heddle::gui;

class RecipeFilesTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void an_answer_is_said_when_it_has_come() {
    RecipeFiles files;
    QSignalSpy changed(&files, &RecipeFiles::changed);
    const QString file = HEDDLE_SOURCE_DIR "/resources/data/tokenizer.json";
    QVERIFY(!files.vocabulary(file));
    QVERIFY(files.isReading());
    QVERIFY(changed.wait());
    QCOMPARE(files.vocabulary(file), std::optional<qint64>(4096));
    QVERIFY(!files.isReading());
    QVERIFY(!files.vocabulary("nowhere.json"));
    QVERIFY(changed.wait());
    QCOMPARE(files.vocabulary("nowhere.json"), std::optional<qint64>(0));
  }

  void a_pipe_holds_nobody() {
    QTemporaryDir folder;
    const QString pipe = folder.filePath("tokenizer.json");
    QCOMPARE(mkfifo(pipe.toLocal8Bit().constData(), 0600), 0);
    RecipeFiles files;
    QSignalSpy changed(&files, &RecipeFiles::changed);
    QVERIFY(!files.vocabulary(pipe));
    QTRY_COMPARE(changed.count(), 1);
    QCOMPARE(files.vocabulary(pipe), std::optional<qint64>(0));
    QVERIFY(!files.isReading());
  }
};

HEDDLE_TEST(RecipeFilesTest)
#include "recipe_files_test.moc"
