// heddle-pack ENGINE WINDOW TO: the programs of the portable archive with every library and plug-in
// of Qt that they load, laid out in the new folder TO: engine/ is the bundle that hosts get, bin/
// has the window, lib/ what it loads besides the bundle's libraries, plugins/ those of Qt. Prints
// the files of this machine that are copies in there now: their licences go with them.
#include <QDir>
#include <QLibraryInfo>
#include <filesystem>
#include <map>

#include "base/guard.h"
#include "base/say.h"
#include "remote/bundle.h"
#include "remote/libraries.h"

namespace {

using namespace heddle;
namespace fs = std::filesystem;

// Not Wayland's: a Wayland desktop has Xwayland. Not OpenGL's: the window draws without it.
const QStringList kPlugins{"platforms/libqxcb.so", "platforms/libqoffscreen.so",
                           "imageformats/*.so", "iconengines/*.so", "platforminputcontexts/*.so"};

/// Qt's plug-ins, as paths below its folder of them.
std::vector<std::string> qt_plugins(const QDir& all) {
  std::vector<std::string> plugins;
  for (const QString& pattern : kPlugins) {
    const QString folder = pattern.section('/', 0, 0);
    for (const QString& file : QDir(all.filePath(folder)).entryList({pattern.section('/', 1)}))
      plugins.push_back((folder + '/' + file).toStdString());
  }
  return plugins;
}

Result<> copy(const std::string& file, const fs::path& to) {
  std::error_code error;
  fs::create_directories(to.parent_path(), error);
  if (!error) fs::copy_file(file, to, error);
  if (!error) say("{}\n", file);
  return error ? fail("{}: {}", to.string(), error.message()) : Result<>{};
}

/// The bundle's libraries by name, and where each comes from.
std::map<std::string, std::string> libraries_in(const remote::Bundle& bundle) {
  std::map<std::string, std::string> files;
  for (const remote::BundleFile& file : bundle.files)
    files[fs::path(file.path).filename()] = file.from;
  return files;
}

Result<> pack(const std::string& engine, const std::string& window, const fs::path& to) {
  const Result<remote::Bundle> bundle =
      remote::bundle_of(engine, remote::Devices::cpus, remote::Parquet::never);
  if (!bundle) return fail(bundle);
  if (const Result<> unpacked = remote::unpack(*bundle, to / "engine"); !unpacked) return unpacked;
  for (const remote::BundleFile& file : bundle->files) say("{}\n", file.from);

  Result<std::vector<remote::Library>> libraries = remote::libraries_of(window);
  if (!libraries) return fail(libraries);
  const QDir all(QLibraryInfo::path(QLibraryInfo::PluginsPath));
  const std::vector<std::string> plugins = qt_plugins(all);
  if (plugins.size() < static_cast<size_t>(kPlugins.size()))
    return fail("{} lacks plug-ins of Qt: install qt6-base-dev", all.path().toStdString());
  for (const std::string& plugin : plugins) {
    const std::string file = all.filePath(QString::fromStdString(plugin)).toStdString();
    const auto loaded = remote::libraries_of_plugin(file, *libraries);
    if (!loaded) return fail(loaded);
    for (const remote::Library& library : *loaded)
      if (library.file != file) libraries->push_back(library);
    if (const Result<> copied = copy(file, to / "plugins" / plugin); !copied) return copied;
  }
  const std::map<std::string, std::string> bundled = libraries_in(*bundle);
  for (const remote::Library& library : *libraries) {
    const auto there = bundled.find(library.name);
    if (there != bundled.end() && there->second == library.file) continue;
    if (const Result<> copied = copy(library.file, to / "lib" / library.name); !copied)
      return copied;
  }
  return copy(window, to / "bin/heddle");
}

}  // namespace

int main(int argc, char** argv) {
  return guarded_main("heddle-pack", [&] {
    if (argc != 4) {
      say(stderr, "heddle-pack ENGINE WINDOW TO\n");
      return 2;
    }
    const Result<> packed = pack(argv[1], argv[2], argv[3]);
    if (!packed) say(stderr, "heddle-pack: {}\n", packed.error().message);
    return packed ? 0 : 1;
  });
}
