// Files from outside: whole, in part, and what is none.
#include "base/read_file.h"

#include <sys/stat.h>
#include <unistd.h>

#include <QTemporaryDir>
#include <QtTest>
#include <fstream>
#include <thread>

#include "base/private_folder.h"
#include "tests/support/results.h"
#include "tests/support/test_class.h"

using namespace heddle;

class ReadFileTest : public QObject {
  Q_OBJECT

  QTemporaryDir folder_;
  std::string path(const char* name) { return folder_.filePath(name).toStdString(); }

 private Q_SLOTS:
  void files_are_read_up_to_their_cap() {
    std::ofstream(path("ten"), std::ios::binary) << std::string(
        "0123\0"
        "56789",
        10);
    QCOMPARE(must(read_file(path("ten"), 10)), std::string("0123\0"
                                                           "56789",
                                                           10));
    VERIFY_SAYS(read_file(path("ten"), 9), "ten: 10 bytes; at most 9 are read");
    std::ofstream(path("empty"));
    QCOMPARE(must(read_file(path("empty"), 0)), std::string());
    VERIFY_SAYS(read_file(path("none"), 10), "none: cannot be read: No such file");
  }

  void what_is_no_file_is_not_waited_for() {
    QCOMPARE(mkfifo(path("pipe").c_str(), 0600), 0);
    VERIFY_SAYS(read_file(path("pipe"), 10), "pipe: cannot be read: it is no regular file");
    VERIFY_SAYS(read_file(folder_.path().toStdString(), 10), "cannot be read: it is a folder");
    VERIFY_SAYS(read_file("/dev/zero", 10), "it is no regular file");
    QVERIFY(!read_part(path("pipe"), 0, 10));
    VERIFY_SAYS(read_file_if_there(path("pipe"), 10),
                "pipe: cannot be read: it is no regular file");
  }

  void a_pipe_that_a_user_names_is_read() {
    std::ofstream(path("named")) << "0123456789";
    QCOMPARE(must(read_named_file(path("named"), 10)), std::string("0123456789"));
    QCOMPARE(mkfifo(path("fed").c_str(), 0600), 0);
    const auto through = [&](size_t most) {
      std::thread writer([&] { std::ofstream(path("fed")) << "0123456789"; });
      auto text = read_named_file(path("fed"), most);
      writer.join();
      return text;
    };
    QCOMPARE(must(through(10)), std::string("0123456789"));
    VERIFY_SAYS(through(9), "fed: more than 9 bytes; no more are read");
    VERIFY_SAYS(read_named_file("/dev/zero", 10), "/dev/zero: more than 10 bytes");
    VERIFY_SAYS(read_named_file(folder_.path().toStdString(), 10), "it is a folder");
    VERIFY_SAYS(read_named_file(path("none"), 10), "none: cannot be read: No such file");
  }

  void a_file_may_be_absent_or_a_link() {
    QVERIFY(!must(read_file_if_there(path("none"), 10)));
    QVERIFY(!must(read_file_if_there("/dev/null/none", 10)));
    QCOMPARE(must(read_file_if_there("/dev/null", 10)).value(), std::string());
    std::ofstream(path("aim")) << "aim";
    QCOMPARE(symlink("aim", path("link").c_str()), 0);
    QCOMPARE(must(read_file_if_there(path("link"), 10)).value(), std::string("aim"));
    VERIFY_SAYS(read_file_if_there(path("link"), 10, PlainFile::Links::refuse),
                "link: cannot be read: it is a link");
    VERIFY_SAYS(read_file_if_there(path("aim"), 2), "aim: 3 bytes; at most 2 are read");
  }

  void a_name_with_a_nul_names_no_other_file() {
    std::ofstream(path("short")) << "short";
    VERIFY_SAYS(read_file(path("short") + std::string("\0.long", 6), 10),
                "short: cannot be read: its name holds a NUL");
  }

  void what_belongs_to_somebody_else_is_not_ours() {
    if (geteuid() != 0) QSKIP("to give a file away needs root");
    std::ofstream(path("theirs")) << "theirs";
    using Links = PlainFile::Links;
    QVERIFY(PlainFile::open(path("theirs"), Links::refuse, PlainFile::Owner::own));
    QCOMPARE(chown(path("theirs").c_str(), 65534, 65534), 0);
    QVERIFY(PlainFile::open(path("theirs"), Links::refuse));
    VERIFY_SAYS(PlainFile::open(path("theirs"), Links::refuse, PlainFile::Owner::own),
                "theirs: cannot be read: it belongs to someone else (user 65534)");
  }

  void a_folder_is_private_where_nobody_else_can_replace_it() {
    const std::string ours = path("ours"), inside = ours + "/deep/inside";
    VERIFY_RESULT(check_private_folder(inside));  // what is not there yet
    must(make_private_folders(inside));
    VERIFY_RESULT(check_private_folder(inside));
    chmod(ours.c_str(), 0777);
    VERIFY_SAYS(check_private_folder(inside), "others can write to " + ours);
    chmod(ours.c_str(), 01777);  // as /tmp: each renames what is his alone
    VERIFY_RESULT(check_private_folder(inside));
    VERIFY_SAYS(check_private_folder(ours), "others can write to " + ours);
    chmod(ours.c_str(), 0700);
    QCOMPARE(symlink("ours/deep", path("way").c_str()), 0);
    VERIFY_RESULT(check_private_folder(path("way/inside")));
    chmod(ours.c_str(), 0770);
    VERIFY_SAYS(check_private_folder(path("way/inside")), "others can write to " + ours);
    chmod(ours.c_str(), 0700);
    QCOMPARE(symlink("round", path("round").c_str()), 0);
    VERIFY_SAYS(check_private_folder(path("round")), "too many links");
    if (geteuid() != 0) QSKIP("to give a link away needs root");
    QCOMPARE(lchown(path("way").c_str(), 65534, 65534), 0);
    VERIFY_SAYS(check_private_folder(path("way/inside")), "way belongs to someone else");
  }

  void parts_and_ends() {
    std::ofstream(path("digits")) << "0123456789";
    QCOMPARE(read_part(path("digits"), 3, 4).value(), std::string("3456"));
    QCOMPARE(read_part(path("digits"), 8, 4).value(), std::string("89"));
    QCOMPARE(read_part(path("digits"), 20, 4).value(), std::string());
    QVERIFY(!read_part(path("none"), 0, 4));
    QCOMPARE(tail_of_file(path("digits"), 0, 3), std::string("789"));
    QCOMPARE(tail_of_file(path("digits"), 9, 3), std::string("9"));
    QCOMPARE(tail_of_file(path("none"), 0, 3), std::string());
  }
};

HEDDLE_TEST(ReadFileTest)
#include "read_file_test.moc"
