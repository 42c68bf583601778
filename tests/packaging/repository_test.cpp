// The form that every tracked file keeps: each check fails with the list of those that do not.
#include "tests/packaging/repository.h"

#include <QFileInfo>
#include <QMap>
#include <QProcess>
#include <QRegularExpression>
#include <QTest>

#include "tests/support/test_class.h"

using namespace heddle;

namespace {

constexpr int longest_file = 600;

bool is_source(const QString& path) {
  return repository::is_cpp(path) || path.endsWith(".sh") || path.endsWith(".py") ||
         path.endsWith(".cmake") || path.endsWith("CMakeLists.txt") || path.endsWith(".sql");
}

QString folder_of(const QString& path) { return path.section('/', 0, -2); }

// `store.h`, `store.cpp` and `store.*` all name both.
bool names(const QString& readme, const QString& file) {
  const QString stem = QRegularExpression::escape(QFileInfo(file).baseName());
  return readme.contains(QRegularExpression("(?<![A-Za-z0-9_])" + stem + "(?![A-Za-z0-9_])"));
}

// The folders whose headers a top-level folder includes; tests include any.
const QMap<QString, QStringList> includable{
    {"base", {"base"}},
    {"engine", {"base", "engine"}},
    {"remote", {"base", "engine", "remote"}},
    {"storage", {"base", "engine", "storage"}},
    {"workbench", {"base", "engine", "remote", "storage", "workbench"}},
    {"gui", {"base", "engine", "remote", "storage", "workbench", "gui"}}};
// Rooms of the engine without LibTorch, which the window never loads.
const QStringList without_torch{"recipe", "holdings", "telemetry",  "hardware", "published",
                                "probe",  "plan",     "checkpoint", "data",     "runs",
                                "inputs", "launch",   "links"};

// The rooms of the engine in the order of its README.md.
QStringList rooms_in_order() {
  const QRegularExpression row("^\\| `(\\w+)` \\|", QRegularExpression::MultilineOption);
  QStringList rooms;
  for (auto found = row.globalMatch(repository::text_of("engine/README.md")); found.hasNext();)
    rooms << found.next().captured(1);
  return rooms;
}

// Why `path` may not include `header`; empty: it may.
QString refusal(const QString& path, const QString& header, const QStringList& rooms) {
  const QString from = path.section('/', 0, 0), to = header.section('/', 0, 0);
  if (!includable.contains(from) || !includable.contains(to)) return {};
  if (!includable[from].contains(to)) return from + " may not include " + to;
  if (to != "engine" || header.count('/') < 2) return {};
  const QString room = header.section('/', 1, 1);
  if (!rooms.contains(room)) return "engine/README.md does not list " + room;
  if (from != "engine")
    return without_torch.contains(room) ? "" : room + " needs LibTorch, which " + from + " has not";
  if (path.count('/') < 2) return {};  // main.cpp
  const QString own = path.section('/', 1, 1);
  return rooms.indexOf(room) <= rooms.indexOf(own) ? "" : room + " is below " + own;
}

// A list long enough to act on, short enough to read.
QByteArray listed(const QStringList& faults) { return "\n  " + faults.join("\n  ").toUtf8(); }

}  // namespace

class RepositoryTest : public QObject {
  Q_OBJECT

  QStringList files_;

 private Q_SLOTS:
  void initTestCase() {
    files_ = repository::tracked_files();
    QVERIFY2(files_.size() > 20, "git does not list this repository's files");
  }

  void every_folder_says_what_it_holds() {
    QMap<QString, QStringList> sources;
    for (const QString& path : files_) {
      const QString name = QFileInfo(path).fileName();
      if (is_source(path) && name != "CMakeLists.txt" && path.contains('/'))
        sources[folder_of(path)] << name;
    }
    QStringList faults;
    for (auto folder = sources.cbegin(); folder != sources.cend(); ++folder) {
      const QString path = folder.key() + "/README.md";
      if (!files_.contains(path)) {
        faults << path + " is missing";
        continue;
      }
      const QString readme = repository::text_of(path);
      for (const QString& file : folder.value())
        if (!names(readme, file)) faults << path + " does not name " + file;
    }
    QVERIFY2(faults.isEmpty(), listed(faults));
  }

  void no_folder_includes_one_that_comes_later() {
    const QStringList rooms = rooms_in_order();
    QVERIFY(rooms.size() > 20);
    const QRegularExpression include("^#include \"([^\"]+/[^\"]+)\"",
                                     QRegularExpression::MultilineOption);
    QStringList faults;
    for (const QString& path : files_) {
      if (!repository::is_cpp(path)) continue;
      for (auto found = include.globalMatch(repository::text_of(path)); found.hasNext();) {
        const QString header = found.next().captured(1);
        if (const QString why = refusal(path, header, rooms); !why.isEmpty())
          faults << path + " includes " + header + ": " + why;
      }
    }
    QVERIFY2(faults.isEmpty(), listed(faults));
  }

  void no_source_is_too_long() {
    QStringList faults;
    for (const QString& path : files_) {
      const auto lines = repository::text_of(path).count('\n');
      if (is_source(path) && lines > longest_file)
        faults << QString("%1: %2 lines; at most %3").arg(path).arg(lines).arg(longest_file);
    }
    QVERIFY2(faults.isEmpty(), listed(faults));
  }

  // The table of claims is read by strangers: what does not fit a line belongs in measurements.md.
  void every_claim_is_a_line() {
    constexpr int longest_claim = 240;
    QStringList faults;
    int number = 0, claims = 0;
    for (const QString& line : repository::text_of("docs/verification.md").split('\n')) {
      ++number;
      if (!line.startsWith("| ")) continue;
      ++claims;
      if (line.size() > longest_claim)
        faults << QString("docs/verification.md:%1: %2 characters; at most %3")
                      .arg(number)
                      .arg(line.size())
                      .arg(longest_claim);
      // `\\|` means the alternative in a command.
      if (QString(line).remove("\\|").count('|') != 4)
        faults << QString("docs/verification.md:%1: not three columns").arg(number);
    }
    QVERIFY(claims > 20);
    QVERIFY2(faults.isEmpty(), listed(faults));
  }

  // The five ways and the lists of files to touch are of use as long as they name what is there.
  void the_architecture_names_files_that_exist() {
    const QRegularExpression path("`([a-z_]+/[a-z_0-9./]*)`");
    QStringList faults;
    int number = 0, named = 0;
    for (const QString& line : repository::text_of("docs/architecture.md").split('\n')) {
      ++number;
      for (auto found = path.globalMatch(line); found.hasNext(); ++named) {
        const QString file = found.next().captured(1);
        if (!QFileInfo::exists(QString(HEDDLE_SOURCE_DIR) + '/' + file))
          faults << QString("docs/architecture.md:%1: no %2").arg(number).arg(file);
      }
    }
    QVERIFY(named > 60);
    QVERIFY2(faults.isEmpty(), listed(faults));
  }

  // Spelled in two parts, so that this file does not hold what it looks for.
  void no_file_names_a_machine() {
    const QRegularExpression machine(
        "(?<![A-Za-z0-9_.~-])/work"
        "/(main|shared|build)|pypi"
        "\\.org|python"
        "hosted|deb\\.debian"
        "\\.org");
    QStringList faults;
    for (const QString& path : files_) {
      int number = 0;
      for (const QString& line : repository::text_of(path).split('\n')) {
        ++number;
        if (machine.match(line).hasMatch())
          faults << QString("%1:%2: %3").arg(path).arg(number).arg(line.trimmed());
      }
    }
    QVERIFY2(faults.isEmpty(), listed(faults));
  }

  // A file from outside may be a pipe, a link or somebody else's: see the header.
  void files_are_opened_in_one_place() {
    const QStringList openers{
        "base/read_file.cpp",                          // a pipe that a user names
        "base/file_lock.cpp",      "base/secret.cpp",  // with rules of their own, as strict
        "engine/runtime/numa.cpp",                     // below /sys
        "gui/theme/icons.cpp",     "gui/theme/stylesheet.cpp"};  // resources in the program
    const QRegularExpression opens(
        "(\\bstd::ifstream\\b|\\bfopen\\(|\\bQFile [a-z]\\w*\\(|\\bstd::regex\\b)(?!.*\"/proc/)");
    const QRegularExpression reads("\\bopen\\([^;]*O_RDONLY[^;]*;");
    QStringList faults;
    for (const QString& path : files_) {
      if (!repository::is_cpp(path) || path.startsWith("tests/") || openers.contains(path))
        continue;
      const QString text = repository::text_of(path);
      if (text.contains(opens))
        faults << path +
                      ": files are opened by PlainFile of base/plain_file.h, and expressions "
                      "matched by PCRE2, whose memory has a limit";
      for (auto found = reads.globalMatch(text); found.hasNext();) {
        const QString call = found.next().captured();
        if (!call.contains("O_DIRECTORY") && !call.contains("\"/dev/null\""))
          faults << path + ": " + call + " is PlainFile's to open";
      }
    }
    QVERIFY2(faults.isEmpty(), listed(faults));
  }

  // Any other dialog would open what it lists, the store too: see the header.
  void files_are_chosen_in_one_dialog() {
    QStringList faults;
    for (const QString& path : files_) {
      if (!repository::is_cpp(path) || !path.startsWith("gui/")) continue;
      if (path.startsWith("gui/widgets/file_dialog.")) continue;
      if (repository::text_of(path).contains(QRegularExpression("\\bQFile(Dialog|SystemModel)\\b")))
        faults << path + " uses Qt's file dialog or model; gui/widgets/file_dialog.h is the one";
    }
    QVERIFY2(faults.isEmpty(), listed(faults));
  }

  // nlohmann's dump() throws at bytes that are no UTF-8, and a terminal obeys what is printed raw.
  void text_from_outside_goes_one_way() {
    // Files that print words of Heddle's own, or data that a person has asked for as it is.
    const QStringList raw{"base/say.h",
                          "base/progress_line.h",                  // a line that is written over
                          "engine/kernels/device.cuh",             // on a device, its own numbers
                          "engine/commands/tokenize_command.cpp",  // tokens, decoded
                          "engine/torch_commands/serve.cpp"};      // JSON, to a program
    const QRegularExpression dumps("\\.dump\\(");
    const QRegularExpression prints(
        "fmt::print\\(|std::(cout|cerr) *<<|std::cout\\.write|\\bf?printf\\(");
    QStringList faults;
    for (const QString& path : files_) {
      if (!repository::is_cpp(path) || path.startsWith("tests/")) continue;
      const QString text = repository::text_of(path);
      if (path != "base/json_text.h" && text.contains(dumps))
        faults << path + ": JSON becomes text by json_text of base/json_text.h";
      if (!raw.contains(path) && text.contains(prints))
        faults << path + ": what is printed goes through say of base/say.h";
    }
    QVERIFY2(faults.isEmpty(), listed(faults));
  }

  // Qt Test takes a slot whose name ends with _data for the rows of another, and does not run it.
  void no_case_has_the_name_of_rows() {
    const QRegularExpression slot("^  void\\s+(\\w+)_data\\(\\)",
                                  QRegularExpression::MultilineOption);
    QStringList faults;
    for (const QString& path : files_) {
      if (!path.startsWith("tests/") || !path.endsWith("_test.cpp")) continue;
      const QString text = repository::text_of(path);
      for (auto found = slot.globalMatch(text); found.hasNext();) {
        const QString name = found.next().captured(1);
        const bool has_case = text.contains("void " + name + "()");
        if (!has_case && text.count(name + "_data()") == 1) faults << path + ": " + name + "_data";
      }
    }
    QVERIFY2(faults.isEmpty(), listed(faults));
  }

  // Style::polish makes labels plain; AutoText would undo it, and HTML of strangers is none of
  // ours.
  void labels_show_plain_text() {
    QStringList faults;
    for (const QString& path : files_) {
      if (!repository::is_cpp(path) || !path.startsWith("gui/") || path == "gui/theme/style.cpp")
        continue;
      const QString text = repository::text_of(path);
      if (text.contains("Qt::AutoText") || text.contains("Qt::MarkdownText"))
        faults << path + ": a label's text is Qt::PlainText, or Qt::RichText of our own words";
      if (text.contains(QRegularExpression("\\b(QMessageBox|QStaticText)\\b")))
        faults << path + ": it draws HTML; valid: Dialog, drawText";
    }
    QVERIFY2(faults.isEmpty(), listed(faults));
  }

  void cpp_is_formatted() {
    QStringList cpp = files_;
    cpp.removeIf([](const QString& path) { return !repository::is_cpp(path); });
    QProcess clang_format;
    clang_format.setWorkingDirectory(HEDDLE_SOURCE_DIR);
    clang_format.start("clang-format", QStringList{"--dry-run", "-Werror"} + cpp);
    QVERIFY2(clang_format.waitForFinished(120000),
             "clang-format does not end, or is not installed");

    QStringList faults;
    for (const QString& line : QString::fromUtf8(clang_format.readAllStandardError()).split('\n')) {
      const QString file = line.section(':', 0, 0);
      if (line.contains("error:") && !faults.contains(file)) faults << file;
    }
    QVERIFY2(clang_format.exitCode() == 0, "run clang-format -i on these:" + listed(faults));
  }
};

HEDDLE_TEST(RepositoryTest)
#include "repository_test.moc"
