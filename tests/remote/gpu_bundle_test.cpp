// The bundle of a run on GPUs, on a node that has none of its libraries, or some.
#include <QtTest>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "base/process.h"
#include "remote/bundle.h"
#include "remote/connect.h"
#include "remote/deploy.h"
#include "remote/libraries.h"
#include "tests/support/sshd.h"
#include "tests/support/test_class.h"

using namespace heddle;
using namespace heddle::remote;

namespace {

namespace fs = std::filesystem;

const std::string kStandIns = HEDDLE_STAND_INS;
const std::string kEngine = kStandIns + "/engine/gpu_program";
const std::vector<std::string> kOfPlugin = {
    "lib/libcaffe2_nvrtc.so",  "lib/libcublas.so.13",   "lib/libcudnn.so.9",
    "lib/libcudnn_graph.so.9", "lib/libheddle_cuda.so", "lib/libnvrtc-builtins.so.13.0",
    "lib/libnvrtc.so.13",      "lib/libtorch_cuda.so"};

std::vector<std::string> paths_of(const Bundle& bundle) {
  std::vector<std::string> paths;
  for (const BundleFile& file : bundle.files) paths.push_back(file.path);
  return paths;
}

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

/// FILE for `path` in the lines "#node PATH FILE" of a manifest.
std::string of_node(const std::string& manifest, const std::string& path) {
  const std::string begin = "#node " + path + " ";
  for (const std::string& line : lines_of(manifest))
    if (line.starts_with(begin)) return line.substr(begin.size());
  return "";
}

}  // namespace

class GpuBundleTest : public QObject {
  Q_OBJECT

  QTemporaryDir cache_;

 private Q_SLOTS:
  void initTestCase() { qputenv("XDG_CACHE_HOME", cache_.path().toUtf8()); }

  void the_plugin_brings_what_it_loads_and_opens_once() {
    const auto cpu = bundle_of(kEngine), gpu = bundle_of(kEngine, Devices::gpus);
    QVERIFY2(cpu && gpu, gpu ? "" : gpu.error().message.c_str());
    std::vector<std::string> expected = paths_of(*cpu);
    for (const std::string& path : kOfPlugin) {
      QVERIFY2(std::ranges::find(expected, path) == expected.end(), path.c_str());
      expected.push_back(path);
    }
    std::ranges::sort(expected);
    QVERIFY(paths_of(*gpu) == expected);  // the C++ library, which both need, is there once
    for (const BundleFile& file : gpu->files)
      QCOMPARE(file.nodes_may_have, std::ranges::find(kOfPlugin, file.path) != kOfPlugin.end() &&
                                        file.path != "lib/libheddle_cuda.so");
    QVERIFY(cpu->id != gpu->id);
  }

  void the_drivers_libraries_stay_where_they_are() {
    const auto program = libraries_of(kEngine);
    QVERIFY(program);
    QTemporaryDir folder;  // its driver is nowhere
    const std::string copy = folder.filePath("libneeds_driver.so").toStdString();
    fs::copy_file(kStandIns + "/driver/libneeds_driver.so", copy);
    for (const std::string& file : {kStandIns + "/driver/libneeds_driver.so", copy}) {
      const auto libraries = libraries_of_plugin(file, *program);
      QVERIFY2(libraries, libraries ? "" : libraries.error().message.c_str());
      QCOMPARE(libraries->size(), size_t{2});
      QCOMPARE((*libraries)[1].name, std::string("libcublas.so.13"));
    }
  }

  // NVIDIA's own, where this machine has a toolkit with cuDNN.
  void cudnn_brings_its_engines_and_their_compiler() {
    const std::string cudnn = "/usr/local/cuda/lib64/libcudnn.so.9";
    if (!fs::exists(cudnn)) QSKIP("there is no CUDA toolkit with cuDNN in /usr/local/cuda");
    const auto program = libraries_of(kEngine);
    QVERIFY(program);
    const auto libraries = libraries_of_plugin(cudnn, *program);
    QVERIFY2(libraries, libraries ? "" : libraries.error().message.c_str());
    for (const char* name : {"libcudnn_engines_precompiled.so.9", "libcudnn_ops.so.9",
                             "libcudnn_engines_runtime_compiled.so.9", "libnvrtc.so.13"})
      QVERIFY2(std::ranges::count(*libraries, name, &Library::name) == 1, name);
    QVERIFY(std::ranges::any_of(*libraries, [](const Library& library) {
      return library.name.starts_with("libnvrtc-builtins.so.13.");
    }));
    QVERIFY(std::ranges::none_of(
        *libraries, [](const Library& library) { return library.name.starts_with("libcuda.so"); }));
  }

  void what_is_missing_is_named() {
    const auto program = libraries_of(kEngine);
    QVERIFY(program);
    QTemporaryDir folder;
    const std::string lib = folder.path().toStdString();
    fs::copy_file(kStandIns + "/lib/libnvrtc.so.13", lib + "/libnvrtc.so.13");
    const auto opened = libraries_of_plugin(lib + "/libnvrtc.so.13", *program);
    QVERIFY(!opened);
    QCOMPARE(opened.error().message,
             lib +
                 "/libnvrtc.so.13 opens libnvrtc-builtins.so.13.* when it runs, which is not "
                 "next to it; packaging/start.sh --cuda fetches what GPUs need");
    QVERIFY(!libraries_of_plugin(lib + "/none.so", *program));
  }

  // As heddle-engine's commands that need LibTorch are.
  void the_library_that_an_engine_loads_later_travels_with_it() {
    QTemporaryDir folder;
    const std::string engine = folder.filePath("engine").toStdString();
    fs::copy_file(kEngine, engine);
    fs::copy_file(kStandIns + "/lib/libcudnn_graph.so.9",
                  folder.filePath("libheddle_torch.so").toStdString());
    const auto bundle = bundle_of(engine);
    QVERIFY2(bundle, bundle ? "" : bundle.error().message.c_str());
    const std::vector<std::string> paths = paths_of(*bundle);
    for (const char* path : {"bin/heddle-engine", "lib/libheddle_torch.so", "lib/libcublas.so.13"})
      QVERIFY2(std::ranges::count(paths, path) == 1, path);
  }

  void an_engine_without_its_plugin_says_how_to_build_it() {
    QTemporaryDir folder;
    const std::string engine = folder.filePath("engine").toStdString();
    fs::copy_file(kEngine, engine);
    const auto without = bundle_of(engine, Devices::gpus);
    QVERIFY(!without);
    QCOMPARE(without.error().message,
             "there is no CUDA plug-in next to " + engine +
                 ": build it with packaging/start.sh --cuda, or train with hardware.device = "
                 "\"cpu\"");
    const std::string plugin = plugin_of(engine);
    fs::copy_file(kStandIns + "/other/libheddle_cuda.so", plugin);
    const auto other = bundle_of(engine, Devices::gpus);
    QVERIFY(!other);
    QCOMPARE(other.error().message, plugin + " is of another build than " + engine +
                                        ": packaging/start.sh --cuda builds both");
    // One that says nothing of itself is none of ours.
    fs::copy_file(kStandIns + "/lib/libcublas.so.13", plugin, fs::copy_options::overwrite_existing);
    QVERIFY(!bundle_of(engine, Devices::gpus));
    QVERIFY(bundle_of(engine));
  }

  void a_bare_node_opens_it_all_and_so_does_an_empty_one() {
    const std::string missing = test::Sshd::missing();
    if (!missing.empty()) QSKIP(missing.c_str());
    const auto sshd = test::Sshd::start();
    QVERIFY2(sshd, sshd ? "" : sshd.error().message.c_str());
    const auto node = (*sshd)->connected();
    QVERIFY(node);
    const auto bundle = bundle_of(kEngine, Devices::gpus);
    QVERIFY(bundle);
    const auto expected = look_for_engine(*node, "~/.heddle", kEngine, Devices::gpus);
    const auto deployed = deploy(*node, "~/.heddle", kEngine, {}, Devices::gpus);
    QVERIFY2(deployed, deployed ? "" : deployed.error().message.c_str());
    QVERIFY(expected);
    QCOMPARE(expected->bytes, deployed->sent_bytes);
    const auto files = node->run_checked({.argv = {deployed->engine, "open"}});
    QVERIFY2(files, files ? "" : files.error().message.c_str());
    for (const std::string& file : lines_of(*files))
      if (file.starts_with('/'))  // the kernel's own has no folder
        QVERIFY2(file.starts_with(test::Sshd::home_there() + "/.heddle/engines/"), file.c_str());
    for (const std::string& path : kOfPlugin)
      QVERIFY2(files->find(path) != files->npos, path.c_str());

    // A CPU run's engine is there with it.
    const auto cpu = deploy(*node, "~/.heddle", kEngine);
    QVERIFY(cpu);
    QCOMPARE(cpu->sent_bytes, uint64_t{0});
    QVERIFY(cpu->id != deployed->id);

    // Nothing at all beside what was brought: no system, no /proc.
    process::Command empty;
    empty.argv = {"unshare",
                  "--mount",
                  "/bin/sh",
                  "-c",
                  "set -e; mount --make-rprivate /; mkdir -p \"$1/empty\"; "
                  "mount -t tmpfs empty \"$1/empty\"; mkdir \"$1/empty/heddle\"; "
                  "mount --bind \"$1/.heddle\" \"$1/empty/heddle\"; "
                  "cd /; exec chroot \"$1/empty\" \"$2/lib/ld-linux-x86-64.so.2\" --library-path "
                  "\"$2/lib\" \"$2/bin/heddle-engine\" open",
                  "sh",
                  (*sshd)->node_home(),
                  "/heddle/engines/" + deployed->id};
    const auto there = process::run(empty);
    QVERIFY(there);
    QVERIFY2(there->exit_code == 0, there->err.c_str());
    QCOMPARE(lines_of(there->out).size(), lines_of(*files).size());
  }

  // PyTorch's own copies, in a virtual environment of the node's home.
  void what_the_node_has_itself_does_not_travel() {
    const std::string missing = test::Sshd::missing();
    if (!missing.empty()) QSKIP(missing.c_str());
    const auto sshd = test::Sshd::start();
    QVERIFY(sshd);
    const auto node = (*sshd)->connected();
    QVERIFY(node);
    const std::string packages = "/env/lib/python3.11/site-packages/";
    const fs::path here = (*sshd)->node_home() + packages;
    const std::string there = test::Sshd::home_there() + packages;
    fs::create_directories(here / "torch/lib");
    fs::create_directories(here / "nvidia/cu13/lib");
    const std::string lib = kStandIns + "/lib/";
    fs::copy_file(lib + "libtorch_cuda.so", here / "torch/lib/libtorch_cuda.so");
    fs::copy_file(lib + "libcublas.so.13", here / "nvidia/cu13/lib/libcublas.so.13");
    // Another version: as long, with another content.
    fs::copy_file(lib + "libcudnn.so.9", here / "nvidia/cu13/lib/libcudnn.so.9");
    std::fstream(here / "nvidia/cu13/lib/libcudnn.so.9", std::ios::in | std::ios::out)
        .seekp(-1, std::ios::end)
        .put('x');
    // Anybody's.
    fs::copy_file(lib + "libnvrtc.so.13", here / "nvidia/cu13/lib/libnvrtc.so.13");
    fs::permissions(here / "nvidia/cu13/lib/libnvrtc.so.13", fs::perms(0666));

    const auto bundle = bundle_of(kEngine, Devices::gpus);
    QVERIFY(bundle);
    uint64_t all = 0, own = 0;
    for (const BundleFile& file : bundle->files) {
      all += file.size;
      if (file.path == "lib/libtorch_cuda.so" || file.path == "lib/libcublas.so.13")
        own += file.size;
    }
    const auto deployed = deploy(*node, "~/.heddle", kEngine, {}, Devices::gpus);
    QVERIFY2(deployed, deployed ? "" : deployed.error().message.c_str());
    QCOMPARE(deployed->sent_bytes, all - own);
    const std::string folder = deployed->engine.substr(0, deployed->engine.rfind('/'));
    const auto manifest = node->read(folder + "/manifest");
    QVERIFY(manifest);
    QCOMPARE(of_node(*manifest, "lib/libtorch_cuda.so"), there + "torch/lib/libtorch_cuda.so");
    QCOMPARE(of_node(*manifest, "lib/libcublas.so.13"), there + "nvidia/cu13/lib/libcublas.so.13");
    QCOMPARE(of_node(*manifest, "lib/libcudnn.so.9"), std::string());
    QCOMPARE(of_node(*manifest, "lib/libnvrtc.so.13"), std::string());
    QCOMPARE(deployed->id, bundle->id);
    QVERIFY(node->run_checked(
        {.argv = {"/bin/sh", "-c", "cd " + folder + " && sha256sum --quiet -c manifest"}}));
    QVERIFY(node->run_checked({.argv = {deployed->engine, "open"}}));

    // It stays as it is until that environment changes; then what is gone from it travels.
    const auto again = deploy(*node, "~/.heddle", kEngine, {}, Devices::gpus);
    QVERIFY(again);
    QCOMPARE(again->sent_bytes, uint64_t{0});
    QVERIFY(fs::remove(here / "nvidia/cu13/lib/libcublas.so.13"));
    const auto mended = deploy(*node, "~/.heddle", kEngine, {}, Devices::gpus);
    QVERIFY2(mended, mended ? "" : mended.error().message.c_str());
    QCOMPARE(mended->sent_bytes, fs::file_size(lib + "libcublas.so.13"));
    const auto opens = node->run_checked({.argv = {mended->engine, "open"}});
    QVERIFY2(opens, opens ? "" : opens.error().message.c_str());
  }
};

HEDDLE_TEST(GpuBundleTest)
#include "gpu_bundle_test.moc"
