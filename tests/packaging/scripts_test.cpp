// The scripts of packaging: what ShellCheck says of them, and what they answer to bad usage.
#include <unistd.h>

#include <QDir>
#include <QFile>
#include <QProcess>
#include <QTemporaryDir>
#include <QTest>

#include "tests/support/test_class.h"

namespace {

struct Ended {
  int exit_code = -1;
  QByteArray message;  // stderr
};

Ended run(const QString& program, const QStringList& arguments, const QStringList& settings = {}) {
  QProcess process;
  QProcessEnvironment environment = QProcessEnvironment::systemEnvironment();
  for (const QString& setting : settings)
    environment.insert(setting.section('=', 0, 0), setting.section('=', 1));
  process.setProcessEnvironment(environment);
  process.setStandardInputFile("/dev/null");
  process.start(program, arguments);
  if (!process.waitForFinished(60000)) return {-1, program.toUtf8() + " does not end"};
  return {process.exitCode(), process.readAllStandardError() + process.readAllStandardOutput()};
}

QString packaging(const QString& file) { return HEDDLE_SOURCE_DIR "/packaging/" + file; }

}  // namespace

class ScriptsTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void shellcheck_finds_nothing() {
    QStringList scripts{HEDDLE_SOURCE_DIR "/.ci/run"};
    for (const QString& name : QDir(packaging("")).entryList({"*.sh"})) scripts << packaging(name);
    for (const char* launcher : {"portable/heddle", "portable/heddle-engine"})
      scripts << packaging(launcher);
    QVERIFY(scripts.size() > 3);
    const Ended ended = run("shellcheck", scripts);
    QVERIFY2(ended.exit_code == 0, ended.message);
  }

  // A copy whose list names a package that cannot be there, started by somebody without root.
  void start_without_root_prints_the_one_command() {
    QTemporaryDir folder;
    QCOMPARE(run("cp", {"-r", packaging(""), folder.filePath("packaging")}).exit_code, 0);
    QFile list(folder.filePath("packaging/debian-packages.txt"));
    QVERIFY(list.open(QIODevice::WriteOnly | QIODevice::Append));
    list.write("heddle-no-such-package\n");
    list.close();
    QCOMPARE(run("chmod", {"-R", "a+rX", folder.path()}).exit_code, 0);
    QVERIFY(QDir(folder.path()).mkdir("home"));
    QCOMPARE(run("chmod", {"777", folder.filePath("home")}).exit_code, 0);

    // Without new privileges sudo cannot help either.
    QStringList command{"--no-new-privs"};
    if (geteuid() == 0)
      command << "--reuid=65534"
              << "--regid=65534"
              << "--clear-groups";
    const Ended ended =
        run("setpriv", command << folder.filePath("packaging/start.sh"),
            {"HOME=" + folder.filePath("home"), "XDG_CACHE_HOME=" + folder.filePath("home/cache")});
    QCOMPARE(ended.exit_code, 2);
    QVERIFY2(ended.message.contains("apt-get update && apt-get install -y --no-install-recommends"),
             ended.message);
    QVERIFY2(ended.message.contains(" heddle-no-such-package"), ended.message);
  }

  void what_is_made_for_other_machines_needs_a_fitting_name() {
    const std::pair<QString, QByteArray> scripts[] = {
        {"portable.sh", "portable.sh takes the name of an archive: FILE.tar.gz"},
        {"deb.sh", "deb.sh takes the name of a package: FILE.deb"},
        {"other-debians.sh",
         "wrong: unknown; valid: --roots DIR, --pictures DIR, portable, hosts"}};
    for (const auto& [script, message] : scripts) {
      const Ended ended = run(packaging(script), {"wrong"});
      QCOMPARE(ended.exit_code, 2);
      QVERIFY2(ended.message.contains(message), ended.message);
    }
  }

  void gpu_check_says_what_it_lacks() {
    const QTemporaryDir folder;
    const QString check = packaging("gpu-check.sh"), build = folder.filePath("build");
    const QStringList there{"--build", build, "--to", folder.filePath("to")};
    Ended ended = run(check, there);
    QCOMPARE(ended.exit_code, 1);
    QVERIFY2(ended.message.contains("has no heddle-engine; make one with"), ended.message);
    QVERIFY(QDir().mkpath(build));
    for (const char* name :
         {"heddle-engine", "libheddle_torch.so", "gpu_check", "libheddle_cuda.so"}) {
      QFile program(build + "/" + name);
      QVERIFY(program.open(QIODevice::WriteOnly));
    }
    ended = run(check, there + QStringList{"--python", folder.filePath("absent")});
    QCOMPARE(ended.exit_code, 1);
    QVERIFY2(ended.message.contains("give --python one with torch 2.11"), ended.message);
    ended = run(check, there + QStringList{"--python", "false"});
    QCOMPARE(ended.exit_code, 1);
    QVERIFY2(ended.message.contains("give --python one with torch 2.11"), ended.message);
    ended = run(check, there + QStringList{"--only", "kernels,nonsense"});
    QCOMPARE(ended.exit_code, 2);
    QVERIFY2(ended.message.contains("--only: nonsense; valid: machine, kernels"), ended.message);
  }

  void uninstall_removes_what_was_put_there_and_no_more() {
    QTemporaryDir folder;
    QCOMPARE(run("cp", {"-r", packaging(""), folder.filePath("packaging")}).exit_code, 0);
    const QDir root(folder.path());
    for (const char* path : {"build/release", "cache/heddle/libtorch-2.11.0", "cache/other",
                             "data/heddle", "config/heddle"})
      QVERIFY(root.mkpath(path));
    QFile installed(folder.filePath("cache/heddle/debian-packages-installed.txt"));
    QVERIFY(installed.open(QIODevice::WriteOnly));
    installed.write("mold\nccache\nmold\n");
    installed.close();
    const QStringList settings{
        "HOME=" + folder.path(), "XDG_CACHE_HOME=" + folder.filePath("cache"),
        "XDG_DATA_HOME=" + folder.filePath("data"), "XDG_CONFIG_HOME=" + folder.filePath("config")};
    const QString uninstall = folder.filePath("packaging/uninstall.sh");

    Ended ended = run(uninstall, {}, settings);
    QCOMPARE(ended.exit_code, 2);  // nobody to ask
    QVERIFY(root.exists("build") && root.exists("cache/heddle"));

    ended = run(uninstall, {"--everything"}, settings);
    QCOMPARE(ended.exit_code, 2);
    QVERIFY2(ended.message.contains("--everything: unknown; valid: --yes, --all"), ended.message);

    ended = run(uninstall, {"--yes"}, settings);
    QVERIFY2(ended.exit_code == 0, ended.message);
    QVERIFY(!root.exists("build") && !root.exists("cache/heddle"));
    QVERIFY(root.exists("cache/other") && root.exists("data/heddle") &&
            root.exists("config/heddle"));
    QVERIFY2(ended.message.contains("apt-get purge --autoremove ccache mold"), ended.message);
    QVERIFY2(ended.message.contains(folder.filePath("data/heddle").toUtf8() + ": "), ended.message);

    ended = run(uninstall, {"--yes", "--all"}, settings);
    QVERIFY2(ended.exit_code == 0, ended.message);
    QVERIFY(root.exists("cache/other") && !root.exists("data/heddle") &&
            !root.exists("config/heddle"));
  }
};

HEDDLE_TEST(ScriptsTest)
#include "scripts_test.moc"
