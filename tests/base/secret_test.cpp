// Secrets as files and on stdin.
#include "base/secret.h"

#include <sys/stat.h>
#include <unistd.h>

#include <QDir>
#include <QFile>
#include <QTemporaryDir>
#include <QTest>

#include "tests/support/test_class.h"

using namespace heddle;

class SecretTest : public QObject {
  Q_OBJECT

 private:
  QTemporaryDir folder_;

  std::string path(const char* name) const { return folder_.filePath(name).toStdString(); }
  static QString message(const Result<Secret>& result) {
    return result ? "no error" : QString::fromStdString(result.error().message);
  }

  // As it comes on a program's stdin.
  static Result<Secret> received(const std::string& text) {
    int ends[2];
    if (pipe(ends) != 0) return fail("pipe");
    const ssize_t written = write(ends[1], text.data(), text.size());
    close(ends[1]);
    auto secret = written == static_cast<ssize_t>(text.size()) ? receive_secret(ends[0]) : fail("");
    close(ends[0]);
    return secret;
  }

 private Q_SLOTS:
  void no_two_are_the_same() {
    const auto one = Secret::make(), other = Secret::make();
    QVERIFY(one && other && !(*one == *other));
    QVERIFY(*Secret::from_hex(one->hex()) == *one);
  }

  void only_its_owner_reads_the_file() {
    const mode_t before = umask(0);
    const auto secret = Secret::make();
    const auto written = write_secret(path("secret"), *secret);
    umask(before);
    QVERIFY(written);
    struct stat status {};
    QCOMPARE(stat(path("secret").c_str(), &status), 0);
    QCOMPARE(int(status.st_mode & 07777), 0600);
    const auto read = read_secret(path("secret"));
    QVERIFY(read && *read == *secret);
  }

  void a_link_in_its_place_is_not_followed() {
    QFile other(folder_.filePath("other"));
    QVERIFY(other.open(QFile::WriteOnly) && other.write("kept") == 4);
    other.close();
    QVERIFY(QFile::link(other.fileName(), folder_.filePath("link")));
    QVERIFY(!read_secret(path("link")));
    QVERIFY(write_secret(path("link"), *Secret::make()));
    QVERIFY(read_secret(path("link")));
    QVERIFY(other.open(QFile::ReadOnly));
    QCOMPARE(other.readAll(), QByteArray("kept"));
  }

  void a_file_that_others_can_read_is_refused() {
    QVERIFY(write_secret(path("open"), *Secret::make()));
    chmod(path("open").c_str(), 0640);
    QVERIFY(message(read_secret(path("open"))).endsWith("(chmod 600)"));
    QVERIFY(mkfifo(path("fifo").c_str(), 0600) == 0);  // which would be waited for
    QVERIFY(message(read_secret(path("fifo"))).endsWith("(chmod 600)"));
  }

  void what_comes_on_stdin() {
    const std::string digits(64, 'e');
    for (const std::string& text : {digits, digits + "\n", digits + "\nwhatever follows"})
      QCOMPARE(message(received(text)), "no error");
    QCOMPARE(message(received("")), "stdin: a secret is 64 hexadecimal digits, not 0 characters");
    QCOMPARE(message(received(digits + "e")),
             "stdin: a secret is 64 hexadecimal digits, not 65 characters");
    QCOMPARE(message(received(std::string(63, 'e') + "g")),
             "stdin: a secret is 64 digits of 0-9 a-f");
  }
};

HEDDLE_TEST(SecretTest)
#include "secret_test.moc"
