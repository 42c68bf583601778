// heddle: the workbench, and its headless commands.
#include <fmt/ranges.h>

#include <QApplication>
#include <QIcon>
#include <cstdio>
#include <cstring>

#include "base/guard.h"
#include "base/option_values.h"
#include "gui/preferences.h"
#include "gui/theme/theme.h"
#include "gui/window/main_window.h"
#include "gui/window/render.h"
#include "storage/store.h"
#include "workbench/commands/run_command.h"
#include "workbench/paths.h"

namespace {

using namespace heddle;

/// The window's command line.
struct Arguments {
  std::string store = storage::default_path();
  std::string recipe;
};

Result<Arguments> parse(int argc, char** argv) {
  Arguments arguments;
  for (int i = 1; i < argc; ++i) {
    const std::string argument = argv[i];
    if (argument == "--store" && i + 1 < argc)
      arguments.store = argv[++i];
    else if (argument.starts_with("--store="))
      arguments.store = argument.substr(strlen("--store="));
    else if (argument.ends_with(".toml") && arguments.recipe.empty())
      arguments.recipe = argument;
    else
      return fail("{} is no command; valid: a recipe (FILE.toml) to open, --store FILE, --demo, {}",
                  argument, fmt::join(workbench::command_names(), ", "));
  }
  return arguments;
}

bool hasDisplay() {
  for (const char* name : {"DISPLAY", "WAYLAND_DISPLAY", "QT_QPA_PLATFORM"})
    if (const char* value = std::getenv(name); value && *value) return true;
  return false;
}

/// An exception that escapes an event's handler ends with it: the window stays and shows the cause.
class Application : public QApplication {
 public:
  using QApplication::QApplication;
  bool notify(QObject* receiver, QEvent* event) override {
    const Result<bool> done =
        caught([&]() -> Result<bool> { return QApplication::notify(receiver, event); });
    if (!done) say(stderr, "heddle: {}\n", done.error().message);
    return done.value_or(true);
  }
};

int openWindow(int argc, char** argv, const Arguments& arguments) {
  QGuiApplication::setHighDpiScaleFactorRoundingPolicy(
      Qt::HighDpiScaleFactorRoundingPolicy::PassThrough);
  Application application(argc, argv);
  application.setApplicationName(QStringLiteral("heddle"));
  application.setApplicationVersion(QStringLiteral(HEDDLE_VERSION));
  application.setDesktopFileName(QStringLiteral("heddle"));
  gui::Theme::install(gui::Theme::Mode::system);
  gui::KeptPreferences::instance().load();
  application.setWindowIcon(gui::icon(QStringLiteral("heddle"), gui::Tone::accent));
  gui::Session session(QString::fromStdString(arguments.store));
  session.start();
  gui::MainWindow window(session);
  window.keepSession();
  window.show();
  if (!arguments.recipe.empty()) window.openRecipe(QString::fromStdString(arguments.recipe));
  return QApplication::exec();
}

/// The archive's plug-ins alone fit the Qt that it brings: this machine may have those of another.
void useOwnPlugins() {
  const QString folder = QString::fromStdString(workbench::qt_plugins_folder());
  if (!folder.isEmpty()) QCoreApplication::setLibraryPaths({folder});
}

int run(int argc, char** argv) {
  useOwnPlugins();
  if (const Result<> given = check_option_values(argc, argv); !given) {
    say(stderr, "heddle: {}\n", given.error().message);
    return 2;
  }
  if (gui::isRender(argc, argv)) return gui::render(argc, argv);
  if (workbench::is_command(argc, argv)) return workbench::run_command(argc, argv);
  const auto arguments = parse(argc, argv);
  if (!arguments) {
    say(stderr, "heddle: {}\n", arguments.error().message);
    return 2;
  }
  if (!hasDisplay()) {
    say(stderr,
        "heddle: there is no display to open the workbench on. Without one: `heddle --demo` "
        "does the main job by itself, `heddle runs` lists the runs, `heddle --help` the "
        "rest.\n");
    return 2;
  }
  return openWindow(argc, argv, *arguments);
}

}  // namespace

int main(int argc, char** argv) {
  return guarded_main("heddle", [&] { return run(argc, argv); });
}
