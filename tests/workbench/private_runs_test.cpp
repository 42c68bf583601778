// Another user of the machine: can look into nothing of a run, change nothing, and put nothing in
// its place, whatever the launcher's umask.
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <QTest>
#include <filesystem>

#include "remote/connect.h"
#include "remote/private_root.h"
#include "tests/support/test_class.h"
#include "tests/workbench/run_fixture.h"
#include "workbench/control.h"
#include "workbench/workbench.h"

using namespace heddle;
using namespace heddle::workbench;

namespace {

namespace fs = std::filesystem;

constexpr uid_t kStranger = 65534;  // nobody

std::vector<std::string> all_below(const std::string& folder) {
  std::vector<std::string> paths{folder};
  std::error_code gone;
  for (fs::recursive_directory_iterator next(folder, gone), end; next != end; next.increment(gone))
    paths.push_back(next->path());
  return paths;
}

/// The stranger's successes with these paths; empty: none.
std::string done_by_a_stranger(const std::vector<std::string>& paths) {
  int report[2];
  if (pipe(report) != 0) return "no pipe";
  const pid_t child = fork();
  if (child == 0) {
    close(report[0]);
    if (setgid(kStranger) != 0 || setuid(kStranger) != 0) _exit(1);
    const auto tell = [&](const std::string& what, const std::string& path) {
      const std::string line = what + " " + path + "\n";
      if (write(report[1], line.data(), line.size()) < 0) _exit(1);
    };
    for (const std::string& path : paths) {
      if (open(path.c_str(), O_RDONLY | O_NONBLOCK) >= 0) tell("reads", path);
      if (open(path.c_str(), O_WRONLY | O_NONBLOCK) >= 0) tell("writes", path);
      if (chmod(path.c_str(), 0777) == 0) tell("opens", path);
      if (rename(path.c_str(), (path + ".gone").c_str()) == 0) tell("moves", path);
      if (open((path + "/new").c_str(), O_WRONLY | O_CREAT, 0600) >= 0) tell("adds to", path);
      struct stat about {};
      if (path != paths[0] && stat(path.c_str(), &about) == 0) tell("sees", path);
    }
    _exit(0);
  }
  close(report[1]);
  std::string told;
  char piece[4096];
  for (ssize_t got; (got = read(report[0], piece, sizeof(piece))) > 0;)
    told.append(piece, static_cast<size_t>(got));
  close(report[0]);
  int status = 0;
  waitpid(child, &status, 0);
  return status == 0 ? told : told + "the stranger did not come to the end";
}

std::unique_ptr<remote::Node> must_connect(const remote::Target& target) {
  auto node = remote::connect(target, target.hosts[0]);
  if (!node) qFatal("%s", node.error().message.c_str());
  return std::move(*node);
}

}  // namespace

class PrivateRunsTest : public QObject {
  Q_OBJECT

  std::unique_ptr<RunFixture> fixture_;
  mode_t umask_ = 0;

 private Q_SLOTS:
  void initTestCase() {
    if (geteuid() != 0) QSKIP("to be another user needs root");
  }

  void init() {
    umask_ = ::umask(022);
    fixture_ = std::make_unique<RunFixture>();
    // A folder that everybody may enter.
    fs::permissions(fixture_->folder.path().toStdString(), fs::perms(0755));
  }

  void cleanup() {
    ::umask(umask_);
    fixture_.reset();
  }

  void nothing_of_a_run_is_open_to_others_data() {
    QTest::addColumn<int>("mask");
    QTest::newRow("umask 000") << 0;
    QTest::newRow("umask 002") << 002;
    QTest::newRow("umask 022") << 022;
  }
  void nothing_of_a_run_is_open_to_others() {
    QFETCH(int, mask);
    ::umask(static_cast<mode_t>(mask));
    fixture_->store = fixture_->path("data/heddle/heddle.sqlite");
    const auto workbench = must(Workbench::open(fixture_->store));
    const auto run = workbench::launch(workbench->writer(), fixture_->request(200, 10));
    VERIFY_RESULT(run);
    QVERIFY(fixture_->reaches_step(run->id, 2));
    const std::string root = fixture_->path("node");
    const std::string data = fixture_->path("data");
    const auto verify = [&] {
      for (const std::string& folder : {root, data}) {
        const auto paths = all_below(folder);
        QVERIFY(paths.size() > 2);
        for (const std::string& path : paths) {
          struct stat about {};
          if (lstat(path.c_str(), &about) != 0 || S_ISLNK(about.st_mode)) continue;
          QVERIFY2((about.st_mode & 077) == 0,
                   fmt::format("{} has the mode {:o}", path, about.st_mode & 07777).c_str());
        }
        const std::string done = done_by_a_stranger(paths);
        QVERIFY2(done.empty(), done.c_str());
      }
    };
    verify();
    if (QTest::currentTestFailed()) return;
    VERIFY_RESULT(stop(fixture_->detail(run->id)));
    QVERIFY(fixture_->ends(run->id));
    verify();
  }

  void a_root_that_others_could_exchange_is_refused() {
    const auto workbench = must(Workbench::open(fixture_->store));
    const std::string above = fixture_->path("shared");
    LaunchRequest request = fixture_->request(5);
    request.target.root = above + "/me/root";
    const auto refusal = [&] {
      const auto run = workbench::launch(workbench->writer(), request);
      return run ? std::string() : run.error().message;
    };
    fs::create_directories(above + "/me");
    fs::permissions(above, fs::perms(0775));
    QCOMPARE(
        refusal().find(fmt::format("this-machine: others can write to {0}, and could put other "
                                   "programs and runs in the place of yours: chmod go-w '{0}'",
                                   above)),
        size_t{0});
    fs::permissions(above, fs::perms(0757));
    QVERIFY(refusal().find("others can write to " + above) != std::string::npos);
    // Where only owners can rename what is theirs, it may be.
    fs::permissions(above, fs::perms(01777));
    const auto run = workbench::launch(workbench->writer(), request);
    VERIFY_RESULT(run);
    QVERIFY(fixture_->ends(run->id));
    request.target.root = above;
    QVERIFY(refusal().find("others can write to " + above) != std::string::npos);
    fs::permissions(above, fs::perms(0755));

    QCOMPARE(chown((above + "/me").c_str(), kStranger, kStranger), 0);
    request.target.root = above + "/me/root";
    QVERIFY(refusal().find(above + "/me belongs to nobody") != std::string::npos);

    // A link of one's own into the folder of someone else, and one of someone else's.
    fs::create_directory_symlink(above + "/me", fixture_->path("link"));
    request.target.root = fixture_->path("link");
    QVERIFY(refusal().find("belongs to nobody") != std::string::npos);
    fs::create_directories(fixture_->path("mine"));
    fs::create_directory_symlink(fixture_->path("mine"), fixture_->path("theirs"));
    QCOMPARE(lchown(fixture_->path("theirs").c_str(), kStranger, kStranger), 0);
    request.target.root = fixture_->path("theirs");
    QVERIFY(refusal().find(fixture_->path("theirs") + " belongs to nobody") != std::string::npos);
  }

  // Each link of a chain is in a folder, and who can write there decides where it leads.
  void a_link_that_others_could_exchange_is_refused_data() {
    QTest::addColumn<QString>("first");
    QTest::addColumn<QString>("second");
    QTest::addColumn<QString>("root");
    QTest::newRow("absolute") << "{}/open/link"
                              << "{}/mine"
                              << "{}/first";
    QTest::newRow("relative") << "open/link"
                              << "../mine"
                              << "{}/first";
    QTest::newRow("below it") << "open/./link"
                              << "../open/../mine/"
                              << "{}/first/root";
    QTest::newRow("back out of it") << "open"
                                    << "{}/mine"
                                    << "{}/first/../mine";
  }
  void a_link_that_others_could_exchange_is_refused() {
    QFETCH(QString, first);
    QFETCH(QString, second);
    QFETCH(QString, root);
    const std::string here = fixture_->folder.path().toStdString();
    const auto filled = [&](QString text) {
      return text.replace(QStringLiteral("{}"), fixture_->folder.path()).toStdString();
    };
    fs::create_directories(here + "/open");
    fs::create_directories(here + "/mine");
    fs::create_symlink(filled(first), here + "/first");
    fs::create_symlink(filled(second), here + "/open/link");
    LaunchRequest request = fixture_->request(3);
    request.target.root = filled(root);
    const auto node = must_connect(request.target);
    fs::permissions(here + "/open", fs::perms(0777));
    VERIFY_SAYS(remote::make_private_root(*node, request.target.root, {}),
                "others can write to " + here + "/open,");
    fs::permissions(here + "/open", fs::perms(01777));
    VERIFY_RESULT(remote::make_private_root(*node, request.target.root, {}));
    QCOMPARE(lchown((here + "/first").c_str(), kStranger, kStranger), 0);
    VERIFY_SAYS(remote::make_private_root(*node, request.target.root, {}),
                here + "/first belongs to nobody");
  }

  void runs_that_others_could_exchange_are_refused() {
    const auto workbench = must(Workbench::open(fixture_->store));
    const LaunchRequest request = fixture_->request(3);
    const std::string runs = request.target.root + "/runs";
    fs::create_directories(runs);
    fs::permissions(runs, fs::perms(0775));
    VERIFY_SAYS(workbench::launch(workbench->writer(), request), "others can write to " + runs);
    fs::permissions(runs, fs::perms(0700));
    QCOMPARE(chown(runs.c_str(), kStranger, kStranger), 0);
    VERIFY_SAYS(workbench::launch(workbench->writer(), request), runs + " belongs to nobody");
  }
};

HEDDLE_TEST(PrivateRunsTest)
#include "private_runs_test.moc"
