// Locks among one user's processes; a stranger on the machine who tries to hold one.
#include "base/file_lock.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <QTemporaryDir>
#include <QTest>
#include <filesystem>
#include <fstream>
#include <functional>
#include <thread>

#include "tests/support/test_class.h"

using namespace heddle;
using std::chrono::milliseconds;

namespace {

constexpr uid_t kStranger = 65534;  // nobody

/// A process that does something, says whether it could, and then sits there.
class Other {
 public:
  explicit Other(const std::function<bool()>& act, bool as_stranger = false) {
    int told[2];
    if (pipe(told) != 0) qFatal("no pipe");
    pid_ = fork();
    if (pid_ == 0) {
      if (as_stranger && (setgid(kStranger) != 0 || setuid(kStranger) != 0)) _exit(1);
      const char done = act() ? '+' : '-';
      if (write(told[1], &done, 1) == 1) pause();
      _exit(1);
    }
    close(told[1]);
    char said = 0;
    did_ = read(told[0], &said, 1) == 1 && said == '+';
    close(told[0]);
  }
  ~Other() {
    kill(pid_, SIGKILL);
    waitpid(pid_, nullptr, 0);
  }
  pid_t pid() const { return pid_; }
  bool did() const { return did_; }

 private:
  pid_t pid_;
  bool did_ = false;
};

bool holds(const std::string& path) {
  static Result<FileLock> lock = fail("none");
  lock = FileLock::take(path);
  return lock && lock->state() == FileLock::State::held;
}

/// As anybody may lock a file or folder that he can open.
bool locks_what_he_can_open(const std::string& path) {
  const int fd = open(path.c_str(), O_RDONLY);
  return fd >= 0 && flock(fd, LOCK_EX | LOCK_NB) == 0;
}

}  // namespace

class FileLockTest : public QObject {
  Q_OBJECT

  std::unique_ptr<QTemporaryDir> folder_;

  std::string path(const std::string& name) const {
    return folder_->filePath(QString::fromStdString(name)).toStdString();
  }
  static std::string message(const Result<FileLock>& lock) {
    return lock ? "no error" : lock.error().message;
  }

 private Q_SLOTS:
  void init() {
    folder_ = std::make_unique<QTemporaryDir>();
    std::filesystem::permissions(folder_->path().toStdString(), std::filesystem::perms(0755));
  }

  void one_holds_it_and_others_are_told_who() {
    const std::string file = path("lock");
    QVERIFY(!FileLock::is_held(file).value());
    {
      const auto lock = FileLock::take(file);
      QVERIFY(lock && lock->state() == FileLock::State::held);
      QVERIFY(FileLock::is_held(file).value());
      const auto second = FileLock::take(file, milliseconds(30));
      QVERIFY(second && second->state() == FileLock::State::of_another);
      QCOMPARE(second->holder(), "process " + std::to_string(getpid()));
      struct stat about {};
      QCOMPARE(stat(file.c_str(), &about), 0);
      QCOMPARE(int(about.st_mode & 07777), 0600);
    }
    QVERIFY(!FileLock::is_held(file).value());
    QVERIFY(holds(file));
  }

  void several_share_it_and_nobody_takes_it_from_them() {
    const std::string file = path("lock");
    QVERIFY(!FileLock::is_shared(file).value());
    {
      const auto one = FileLock::share(file), two = FileLock::share(file);
      QVERIFY(one->state() == FileLock::State::held && two->state() == FileLock::State::held);
      QVERIFY(FileLock::is_shared(file).value());
      QVERIFY(!FileLock::is_held(file).value());
      QCOMPARE(FileLock::take(file)->state(), FileLock::State::of_another);
    }
    QVERIFY(!FileLock::is_shared(file).value());
    const auto taken = FileLock::take(file);
    QVERIFY(FileLock::is_shared(file).value());
    QCOMPARE(FileLock::share(file)->state(), FileLock::State::of_another);
  }

  void it_goes_with_its_process() {
    const std::string file = path("lock");
    {
      const Other other([&] { return holds(file); });
      QVERIFY(other.did());
      const auto lock = FileLock::take(file);
      QVERIFY(lock && lock->state() == FileLock::State::of_another);
      QCOMPARE(lock->holder(), "process " + std::to_string(other.pid()));
    }
    QCOMPARE(FileLock::take(file)->state(), FileLock::State::held);
  }

  void it_is_waited_for() {
    const std::string file = path("lock");
    std::optional<FileLock> first(std::move(*FileLock::take(file)));
    std::thread later([&] {
      std::this_thread::sleep_for(milliseconds(50));
      first.reset();
    });
    const auto lock = FileLock::take(file, std::chrono::seconds(60));
    later.join();
    QCOMPARE(lock->state(), FileLock::State::held);
  }

  void a_stranger_cannot_hold_it() {
    if (geteuid() != 0) QSKIP("to be another user needs root");
    const std::string file = path("lock");
    { QVERIFY(FileLock::take(file)); }
    const Other on_file([&] { return locks_what_he_can_open(file); }, true);
    QVERIFY(!on_file.did());
    // Which is what he can do to a folder that he may enter.
    const Other on_folder([&] { return locks_what_he_can_open(folder_->path().toStdString()); },
                          true);
    QVERIFY(on_folder.did());
    QCOMPARE(FileLock::take(file)->state(), FileLock::State::held);
  }

  void what_a_stranger_has_put_there_is_refused() {
    if (geteuid() != 0) QSKIP("to be another user needs root");
    std::filesystem::permissions(folder_->path().toStdString(), std::filesystem::perms(0777));
    const std::string file = path("lock");
    const Other other(
        [&] {
          const int fd = open(file.c_str(), O_RDWR | O_CREAT, 0666);
          return fd >= 0 && fchmod(fd, 0666) == 0 && flock(fd, LOCK_EX) == 0;
        },
        true);
    QVERIFY(other.did());
    QCOMPARE(message(FileLock::take(file, std::chrono::hours(1))),
             file +
                 ": cannot be locked: it belongs to someone else (user 65534), who could hold "
                 "it up: remove it");
    QVERIFY(!FileLock::is_held(file).value());
  }

  void links_pipes_and_folders_are_refused() {
    std::ofstream(path("theirs")) << "theirs";
    std::filesystem::create_symlink(path("theirs"), path("link"));
    QCOMPARE(message(FileLock::take(path("link"))),
             path("link") + ": cannot be locked: it is a link");
    QCOMPARE(mkfifo(path("pipe").c_str(), 0600), 0);
    QCOMPARE(message(FileLock::take(path("pipe"))),
             path("pipe") + ": cannot be locked: it is no regular file");
    QCOMPARE(message(FileLock::take(folder_->path().toStdString())),
             folder_->path().toStdString() + ": cannot be locked: Is a directory");
    std::string text;
    std::ifstream(path("theirs")) >> text;
    QCOMPARE(text, std::string("theirs"));
  }
};

HEDDLE_TEST(FileLockTest)
#include "file_lock_test.moc"
