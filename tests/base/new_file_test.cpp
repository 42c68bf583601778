// Files under a name that nobody can guess until they are whole: what a stranger has put there,
// what an attempt that died has left, what another one is writing.
#include "base/new_file.h"

#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <QTemporaryDir>
#include <QTest>
#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>

#include "tests/support/test_class.h"

using namespace heddle;

namespace fs = std::filesystem;

class NewFileTest : public QObject {
  Q_OBJECT

  std::unique_ptr<QTemporaryDir> folder_;

  std::string path(const std::string& name) const {
    return folder_->filePath(QString::fromStdString(name)).toStdString();
  }
  static std::string text_of(const std::string& path) {
    std::ostringstream text;
    text << std::ifstream(path).rdbuf();
    return text.str();
  }
  std::set<std::string> names() const {
    std::set<std::string> names;
    for (const auto& entry : fs::directory_iterator(folder_->path().toStdString()))
      names.insert(entry.path().filename());
    return names;
  }
  /// A process that writes PATH and is killed in the middle of it.
  void die_writing(const std::string& path) {
    int told[2];
    QCOMPARE(pipe(told), 0);
    const pid_t child = fork();
    if (child == 0) {
      auto file = NewFile::create(path);
      const bool written = file && file->write("half of i");
      if (write(told[1], written ? "+" : "-", 1) == 1) pause();
      _exit(1);
    }
    char said = 0;
    QCOMPARE(read(told[0], &said, 1), ssize_t{1});
    QCOMPARE(said, '+');
    kill(child, SIGKILL);
    waitpid(child, nullptr, 0);
    close(told[0]);
    close(told[1]);
  }

 private Q_SLOTS:
  void init() { folder_ = std::make_unique<QTemporaryDir>(); }

  void it_has_its_name_once_it_is_whole() {
    std::ofstream(path("file")) << "what was there";
    {
      auto file = NewFile::create(path("file"));
      QVERIFY2(file, file ? "" : file.error().message.c_str());
      QVERIFY(file->write("new"));
      QCOMPARE(text_of(path("file")), std::string("what was there"));
      QCOMPARE(names().size(), size_t{2});
      struct stat about {};
      QCOMPARE(lstat(file->part().c_str(), &about), 0);
      QVERIFY(S_ISREG(about.st_mode));
      QCOMPARE(int(about.st_mode & 07777), 0600);
      QVERIFY(file->take_place());
    }
    QCOMPARE(text_of(path("file")), std::string("new"));
    QCOMPARE(names(), std::set<std::string>{"file"});
  }

  void one_that_is_given_up_leaves_nothing() {
    { QVERIFY(NewFile::create(path("file"))->write("x")); }
    QVERIFY(names().empty());
  }

  void no_two_have_the_same_name() {
    std::set<std::string> parts;
    std::vector<NewFile> files;
    for (int i = 0; i < 100; ++i) {
      files.push_back(std::move(*NewFile::create(path("file"))));
      parts.insert(files.back().part());
    }
    QCOMPARE(parts.size(), size_t{100});
    QCOMPARE(names().size(), size_t{100});  // none took another one's for a leftover
  }

  void a_link_at_its_place_is_replaced_and_at_the_old_names_never_looked_at() {
    std::ofstream(path("theirs")) << "theirs";
    for (const char* name : {"file", "file.part", "file.tmp"})
      fs::create_symlink(path("theirs"), path(name));
    auto file = NewFile::create(path("file"));
    QVERIFY(file && file->write("mine") && file->take_place());
    QCOMPARE(text_of(path("theirs")), std::string("theirs"));
    QVERIFY(!fs::is_symlink(path("file")));
    QCOMPARE(text_of(path("file")), std::string("mine"));
    QVERIFY(fs::is_symlink(path("file.part")) && fs::is_symlink(path("file.tmp")));
  }

  void what_a_killed_writer_has_left_goes_with_the_next() {
    for (int i = 0; i < 3; ++i) {
      die_writing(path("file"));
      if (QTest::currentTestFailed()) return;
      QCOMPARE(names().size(), size_t{1});  // they do not pile up
    }
    auto living = NewFile::create(path("file"));  // which removes the last of them
    die_writing(path("other"));
    QCOMPARE(names().size(), size_t{2});
    remove_leftovers(path("file"));
    QVERIFY2(fs::exists(living->part()), "what is being written was removed");
    remove_leftovers(path("other"));
    QCOMPARE(names().size(), size_t{1});
    QVERIFY(living->write("x") && living->take_place());
    QCOMPARE(names(), std::set<std::string>{"file"});
  }

  void only_its_own_names_are_leftovers() {
    const std::set<std::string> kept = {
        "file.part",      "file.0123456789abcdef",       "file.0123456789ABCDEF.part",
        "file.0123.part", "file2.0123456789abcdef.part", "0123456789abcdef.part",
        "file.txt.part"};
    for (const std::string& name : kept) std::ofstream(path(name)) << "x";
    std::ofstream(path("theirs")) << "theirs";
    fs::create_symlink(path("theirs"), path("file.0123456789abcdef.part"));
    remove_leftovers(path("file"));
    QVERIFY(fs::is_symlink(path("file.0123456789abcdef.part")));
    fs::remove(path("file.0123456789abcdef.part"));
    std::ofstream(path("file.0123456789abcdef.part")) << "x";
    remove_leftovers(path("file"));
    std::set<std::string> now = kept;
    now.insert("theirs");
    QCOMPARE(names(), now);
  }

  void where_there_is_no_folder_that_is_said() {
    const auto file = NewFile::create(path("none/file"));
    QVERIFY(!file);
    QCOMPARE(file.error().message,
             path("none/file") + ": cannot be created: No such file or directory");
  }
};

HEDDLE_TEST(NewFileTest)
#include "new_file_test.moc"
