#include "gui/window/render.h"

#include <CLI/CLI.hpp>
#include <QApplication>
#include <QDeadlineTimer>
#include <QElapsedTimer>
#include <QFileInfo>
#include <QThread>

#include "base/say.h"
#include "gui/theme/theme.h"
#include "gui/window/main_window.h"
#include "gui/window/pages.h"
#include "storage/store.h"

namespace heddle::gui {
namespace {

constexpr int kDeadlineMilliseconds = 60000;
constexpr int kQuietMilliseconds = 400;  // nothing was loading for so long: charts have been drawn
constexpr int kQuietRounds = 10;         // of events

const QSize kMin(1040, 640);  // what the pages need

struct Picture {
  std::string store = storage::default_path();
  std::string page;
  std::vector<std::string> runs;
  std::string recipe;
  std::string theme = "dark";
  std::string scale = "1";
  std::string size = "1600x1000";
  std::string file;
};

std::vector<std::string> pageNames() {
  std::vector<std::string> names;
  for (const PageEntry& entry : pages()) names.emplace_back(entry.name);
  return names;
}

Result<QSize> sizeOf(const std::string& text) {
  const QStringList parts = QString::fromStdString(text).split(QChar('x'));
  const QSize size = parts.size() == 2 ? QSize(parts[0].toInt(), parts[1].toInt()) : QSize();
  if (size.width() < kMin.width() || size.height() < kMin.height() || size.width() > 8192 ||
      size.height() > 8192)
    return fail("--size: {} is no size; valid: WIDTHxHEIGHT from 1040x640 to 8192x8192", text);
  return size;
}

QtMessageHandler otherMessages = nullptr;

/// The offscreen platform remarks on every window that it has no window manager.
void skipPlatformRemarks(QtMsgType type, const QMessageLogContext& context, const QString& text) {
  if (!text.startsWith(QStringLiteral("This plugin does not support")))
    otherMessages(type, context, text);
}

/// The runs' ids, in order.
Result<QList<qint64>> idsOf(const Picture& picture) {
  QList<qint64> ids;
  if (picture.runs.empty()) return ids;
  auto reader = storage::Reader::open(picture.store);
  if (!reader) return fail(reader);
  for (const std::string& name : picture.runs) {
    const auto run = reader->find_run(name);
    if (!run) return fail("--run: {}", run.error().message);
    ids.append(run->id);
  }
  return ids;
}

/// Lets the window load and draw until nothing is under way.
bool settle(const MainWindow& window) {
  QDeadlineTimer deadline(kDeadlineMilliseconds);
  QElapsedTimer quiet;
  quiet.start();
  // On a busy machine the time may pass with events left.
  for (int rounds = 0; quiet.elapsed() < kQuietMilliseconds || rounds < kQuietRounds; ++rounds) {
    if (deadline.hasExpired()) return false;
    // The end of loading may take long itself, and leaves widgets to be laid out.
    const bool loaded = window.isReady();
    QCoreApplication::processEvents(QEventLoop::AllEvents | QEventLoop::WaitForMoreEvents, 20);
    QThread::msleep(5);
    if (loaded && window.isReady()) continue;
    quiet.restart();
    rounds = 0;
  }
  return true;
}

Result<> draw(const Picture& picture) {
  const auto size = sizeOf(picture.size);
  if (!size) return fail(size);
  const auto runs = idsOf(picture);
  if (!runs) return fail(runs);
  Theme::install(picture.theme == "light" ? Theme::Mode::light : Theme::Mode::dark);
  Session session(QString::fromStdString(picture.store), false);
  MainWindow window(session);
  window.setAttribute(Qt::WA_DontShowOnScreen);
  window.setMinimumSize(0, 0);
  window.resize(*size);
  window.show();
  const QString page = QString::fromStdString(picture.page);
  if (!picture.recipe.empty()) {
    if (!QFileInfo::exists(QString::fromStdString(picture.recipe)))
      return fail("--recipe: there is no file {}", picture.recipe);
    window.openRecipe(QString::fromStdString(picture.recipe));
  }
  window.showPage(page);
  if (runs->size() == 1)
    window.currentPage()->showRun(runs->first());
  else if (!runs->isEmpty())
    window.currentPage()->showRuns(*runs);
  if (!settle(window))
    return fail("the page {} was not complete after {} s", picture.page,
                kDeadlineMilliseconds / 1000);
  if (!window.grab().save(QString::fromStdString(picture.file), "PNG"))
    return fail("{} cannot be written", picture.file);
  return {};
}

}  // namespace

bool isRender(int argc, char** argv) {
  for (int i = 1; i < argc; ++i) {
    const std::string argument = argv[i];
    if (argument == "--store")
      ++i;
    else if (!argument.starts_with("--store="))
      return argument == "render";
  }
  return false;
}

int render(int argc, char** argv) {
  Picture picture;
  CLI::App app("Heddle: the whole window as a picture", "heddle");
  app.add_option("--store", picture.store, "the experiment store");
  CLI::App* command = app.add_subcommand("render", "Draw a page of the workbench into a PNG file");
  command->fallthrough();
  command->add_option("page", picture.page, "the page")
      ->required()
      ->check(CLI::IsMember(pageNames()));
  command->add_option("--run", picture.runs, "a run's name or id; several for compare");
  command->add_option("--recipe", picture.recipe, "a recipe for compose");
  command->add_option("--theme", picture.theme)->check(CLI::IsMember({"dark", "light"}));
  command->add_option("--scale", picture.scale, "device pixels a pixel")
      ->check(CLI::IsMember({"1", "1.5", "2"}));
  command->add_option("--size", picture.size, "WIDTHxHEIGHT, before scaling");
  command->add_option("--to", picture.file, "the PNG file to write")->required();
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : 2;
  }
  qputenv("QT_QPA_PLATFORM", "offscreen");
  qputenv("QT_SCALE_FACTOR", QByteArray::fromStdString(picture.scale));
  QGuiApplication::setHighDpiScaleFactorRoundingPolicy(
      Qt::HighDpiScaleFactorRoundingPolicy::PassThrough);
  otherMessages = qInstallMessageHandler(skipPlatformRemarks);
  QApplication application(argc, argv);
  application.setApplicationVersion(QStringLiteral(HEDDLE_VERSION));
  if (const auto drawn = draw(picture); !drawn) {
    say(stderr, "heddle: {}\n", drawn.error().message);
    return drawn.error().message.starts_with("--") ? 2 : 1;
  }
  return 0;
}

}  // namespace heddle::gui
