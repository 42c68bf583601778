// Whether a recipe can be trained on a target: findings over hosts as a probe describes them, and
// on this machine as it is.
#include "workbench/preflight.h"

#include <QDir>
#include <QTemporaryDir>
#include <QTest>
#include <filesystem>
#include <fstream>

#include "engine/checkpoint/load_recipe.h"
#include "tests/support/test_class.h"
#include "workbench/inputs.h"

using namespace heddle;
using namespace heddle::workbench;
using probe::Status;

namespace {

constexpr int64_t kGiB = int64_t{1} << 30;

/// 64 cores, 256 GiB, no GPU.
HostNow host() {
  HostNow host{.name = "node"};
  host.report.host = "node";
  host.report.cores = 64;
  host.report.memory_bytes = 256 * kGiB;
  host.report.available_bytes = 240 * kGiB;
  host.report.shared_memory_bytes = 120 * kGiB;
  host.report.free_disk_bytes = 900 * kGiB;
  return host;
}

TargetNow on(std::vector<HostNow> hosts) {
  return {.target = remote::this_machine(), .hosts = std::move(hosts)};
}

TargetNow on_lab(std::vector<HostNow> hosts) {
  remote::Target lab;
  lab.name = "lab";
  lab.hosts.assign(hosts.size(), *remote::parse_host("ada@node.lab"));
  return {.target = std::move(lab), .hosts = std::move(hosts)};
}

}  // namespace

class PreflightTest : public QObject {
  Q_OBJECT

  QTemporaryDir folder_;

  std::string path(const char* name) const {
    return folder_.filePath(QString::fromLatin1(name)).toStdString();
  }

  /// A recipe of this folder, whose model has its vocabulary.
  recipe::Parsed load(const std::string& preset, const std::string& rest) const {
    const recipe::Parsed loaded = checkpoint::load_recipe(
        "[model]\npreset = \"" + preset +
            "\"\nvocab_size = 4096\n"
            "[data]\ntext = [\"corpus.txt\"]\ntokenizer = \"tokenizer.json\"\nseq_len = 512\n" +
            rest,
        path("r.toml"));
    if (!loaded.ok()) qFatal("%s", loaded.faults[0].str().c_str());
    return loaded;
  }

  /// The line of the finding of that name, with its status.
  static std::string line(const std::vector<Finding>& findings, const std::string& name) {
    for (const Finding& finding : findings)
      if (finding.name == name)
        return std::string(probe::word(finding.status)) + " " + finding.line();
    return "no finding " + name;
  }

 private Q_SLOTS:
  void init() {
    std::ofstream(path("corpus.txt")) << "To be, or not to be.\n";
    std::ofstream(path("tokenizer.json")) << "{}\n";
  }

  // The preflight reports faults of the weights that training would report or refuse.
  void weights_are_opened() {
    const std::string reference = HEDDLE_SOURCE_DIR "/tests/fixtures/", folder = path("model");
    const auto of = [&](const std::string& checkpoint) {
      const recipe::Parsed loaded = checkpoint::load_recipe(
          "[model]\ncheckpoint = \"" + checkpoint + "\"\n[data]\ntoken_ids = \"" + reference +
              "own-head/tokens.safetensors\"\nseq_len = 8\n[training]\nlocal_batch = 1\n"
              "[hardware]\nranks = 1\n",
          path("r.toml"));
      if (!loaded.ok()) qFatal("%s", loaded.faults[0].str().c_str());
      return line(preflight(loaded, on({host()})), "weights");
    };
    QCOMPARE(of(reference + "reference/llama-tiny"), std::string("no finding weights"));
    const auto says = [&](const std::string& checkpoint, const char* status, const char* what) {
      const std::string said = of(checkpoint);
      return said.starts_with(status) && said.find(what) != std::string::npos;
    };
    QVERIFY(says(reference + "own-head", "warn ", "lm_head.weight differs from"));
    std::filesystem::create_directory(folder);
    std::filesystem::copy(reference + "own-head/config.json", folder + "/config.json");
    std::ofstream(folder + "/model.safetensors") << "none";
    QVERIFY(says(folder, "fail ", "/model.safetensors: "));
  }

  void a_host_that_has_it_all_may_start() {
    const auto found = preflight(load("llama3-debug", "[hardware]\nranks = 4\n"), on({host()}));
    QVERIFY2(may_start(found), lines_of(found, Status::fail).c_str());
    QCOMPARE(lines_of(found, Status::warn), std::string());
    QCOMPARE(line(found, "cores"), std::string("pass cores: 4 ranks on 64 cores"));
    QCOMPARE(line(found, "data"), std::string("pass data: 24 B, readable"));
  }

  void what_names_special_tokens_goes_along() {
    std::ofstream(path("tokenizer_config.json")) << "{\"eos_token\": null}";
    const auto found = preflight(load("llama3-debug", "[hardware]\nranks = 4\n"), on({host()}));
    QFile::remove(folder_.filePath("tokenizer_config.json"));
    QCOMPARE(line(found, "data"), std::string("pass data: 43 B, readable"));
  }

  /// A folder's texts that are read; with Megatron's ids the index that says where
  /// documents begin.
  void only_what_is_read_goes_to_a_host() {
    QVERIFY(QDir(folder_.path()).mkpath("texts/.git"));
    std::ofstream(path("texts/a.txt")) << "12345";
    std::ofstream(path("texts/notes.md")) << "notes";
    std::ofstream(path("texts/.git/b.txt")) << "hidden";
    std::filesystem::create_symlink(path("corpus.txt"), path("texts/out.txt"));
    recipe::Recipe recipe = load("llama3-debug", "[hardware]\nranks = 4\n").recipe;
    recipe.data.text = {path("texts")};
    recipe.data.tokenizer.clear();
    QCOMPARE(bytes_of_inputs(recipe, {}).all, uint64_t{5});
    std::ofstream(path("ids.bin")) << "1234";
    std::ofstream(path("ids.idx")) << "123456";
    recipe.data.text.clear();
    recipe.data.token_ids = path("ids.bin");
    QCOMPARE(bytes_of_inputs(recipe, {}).all, uint64_t{10});
  }

  void gpus_that_are_not_there() {
    const auto found =
        preflight(load("llama3-8b", "[hardware]\nranks = 8\ndevice = \"cuda\"\n"), on({host()}));
    QVERIFY(!may_start(found));
    const std::string said = line(found, "GPUs");
    QVERIFY2(said.starts_with("fail GPUs: 8 ranks on 0 GPUs; "), said.c_str());
    QVERIFY2(said.find("hardware.device = \"cpu\"") != said.npos, said.c_str());
  }

  void gpus_without_the_plugin() {
    HostNow gpu_host = host();
    gpu_host.report.gpus.assign(2, {"NVIDIA H100", 80 * kGiB, "580"});
    TargetNow now = on({gpu_host});
    now.plugin_fault = "there is no CUDA plug-in";
    const auto recipe = load("llama3-debug", "[hardware]\nranks = 2\ndevice = \"cuda\"\n");
    const std::string said = line(preflight(recipe, now), "devices");
    QVERIFY2(
        said.starts_with("fail " + path("r.toml") + ":10:10: hardware.device: there is no CUDA"),
        said.c_str());
    now.plugin_fault.clear();
    const auto found = preflight(recipe, now);
    QVERIFY2(may_start(found), lines_of(found, Status::fail).c_str());
    // And on the CPU next to idle GPUs, which is legal.
    const auto idle =
        preflight(load("llama3-debug", "[hardware]\nranks = 2\ndevice = \"cpu\"\n"), now);
    QVERIFY(may_start(idle));
    QCOMPARE(line(idle, "devices"),
             std::string("warn devices: 2 ranks on the CPU next to 2 × NVIDIA H100; "
                         "hardware.device = \"cuda\" trains on these"));
  }

  void auto_takes_gpus_and_says_so() {
    HostNow gpu_host = host();
    gpu_host.report.gpus.assign(2, {"NVIDIA H100", 80 * kGiB, "580"});
    TargetNow now = on({gpu_host});
    const auto two = load("llama3-debug", "[hardware]\nranks = 2\n");
    QVERIFY(device_on(two.recipe, now).gpus);
    QCOMPARE(line(preflight(two, now), "devices"),
             std::string("pass devices: 2 ranks on 2 × NVIDIA H100"));
    QVERIFY(line(preflight(two, now), "GPUs").starts_with("pass GPUs: 2 ranks on 2 GPUs of "));
    // Otherwise the CPU, with the reason.
    const auto four = load("llama3-debug", "[hardware]\nranks = 4\n");
    QVERIFY(!device_on(four.recipe, now).gpus);
    QVERIFY(
        line(preflight(four, now), "devices").starts_with("warn devices: 4 ranks on the CPU: "));
    now.plugin_fault = "there is no CUDA plug-in";
    QCOMPARE(line(preflight(two, now), "devices"),
             std::string("warn devices: 2 ranks on the CPU: of node's GPUs: there is no CUDA "
                         "plug-in"));
    now.plugin_fault.clear();
    now.hosts[0].report.gpu_fault = "the driver is too old";
    QVERIFY(!device_on(two.recipe, now).gpus);
    const auto bare = preflight(two, on({host()}));
    QCOMPARE(line(bare, "devices"), std::string("pass devices: 2 ranks on the CPU"));
  }

  // Faults of GPUs stop no run on CPUs, and are reported for a run on GPUs.
  void gpus_are_looked_at_where_they_are_used() {
    HostNow gpu_host = host();
    gpu_host.report.gpus.assign(2, {"NVIDIA H100", 80 * kGiB, "535"});
    gpu_host.report.checks = {{"driver", Status::fail, "535", "CUDA 13 needs 580", true},
                              {"GPU memory", Status::warn,
                               "GPU 1 has 1.00 GiB of 80.0 GiB free, "
                               "bob's python3 (process 7) holds 79 GiB",
                               "wait", true}};
    const TargetNow now = on({gpu_host});
    const auto cpu =
        preflight(load("llama3-debug", "[hardware]\nranks = 2\ndevice = \"cpu\"\n"), now);
    QVERIFY2(may_start(cpu), lines_of(cpu, Status::fail).c_str());
    const auto gpu =
        preflight(load("llama3-debug", "[hardware]\nranks = 2\ndevice = \"cuda\"\n"), now);
    QVERIFY(!may_start(gpu));
    QCOMPARE(line(gpu, "driver"), std::string("fail driver: 535; CUDA 13 needs 580"));
    QVERIFY(line(gpu, "GPU memory").find("bob's python3 (process 7)") != std::string::npos);
  }

  void a_gpu_of_an_unknown_kind_is_named() {
    HostNow gpu_host = host();
    const auto recipe = load("llama3-debug", "[hardware]\nranks = 2\n");
    const auto kind = [&](const char* name) {
      gpu_host.report.gpus.assign(2, {name, 80 * kGiB, "580"});
      return line(preflight(recipe, on({gpu_host})), "GPU kind");
    };
    QVERIFY(kind("NVIDIA Z900").starts_with("warn GPU kind: NVIDIA Z900 is not in the catalogue"));
    QCOMPARE(kind("NVIDIA H100 80GB HBM3"), std::string("no finding GPU kind"));
  }

  void a_bundle_for_gpus_is_what_travels() {
    HostNow far = host();
    far.report.gpus.assign(2, {"NVIDIA H100", 80 * kGiB, "580"});
    far.engine_bytes = 512 << 20;
    far.gpu_engine_bytes = int64_t{3} << 30;
    const auto found = preflight(load("llama3-debug", "[hardware]\nranks = 2\n"), on_lab({far}));
    QVERIFY2(line(found, "disk").find("3.00 GiB to bring there") != std::string::npos,
             line(found, "disk").c_str());
    QVERIFY2(may_start(found), lines_of(found, Status::fail).c_str());
  }

  void memory_is_counted_and_may_be_overridden() {
    HostNow small = host();
    small.report.cores = 2;
    small.report.available_bytes = 4 * kGiB;
    const std::string ranks = "[hardware]\nranks = 8\n";
    const auto found = preflight(load("llama3-8b", ranks), on({small}));
    QVERIFY(!may_start(found));
    const std::string said = line(found, "memory");
    QVERIFY2(said.starts_with("fail memory: 8 ranks need ") &&
                 said.find("4.00 GiB of 256 GiB are free") != said.npos &&
                 said.find("hardware.overcommit = true") != said.npos,
             said.c_str());
    QVERIFY(line(found, "cores").starts_with("warn cores: 8 ranks on 2 cores; "));
    const auto anyway = preflight(load("llama3-8b", ranks + "overcommit = true\n"), on({small}));
    QVERIFY(line(anyway, "memory").starts_with("warn memory: 8 ranks need "));
    QVERIFY2(may_start(anyway), lines_of(anyway, Status::fail).c_str());
  }

  void checkpoints_need_room() {
    HostNow full = host();
    full.report.free_disk_bytes = kGiB;
    const std::string every =
        "[training]\nsteps = 100\n[checkpoint]\nevery = 10\nkeep = 2\n[hardware]\nranks = 2\n";
    const auto found = preflight(load("llama3-1b", every), on({full}));
    QVERIFY(!may_start(found));
    const std::string said = line(found, "disk");
    QVERIFY2(
        said.find("3 checkpoints of ") != said.npos &&
            said.find("one being written included; 1.00 GiB free at ~/.heddle; ") != said.npos &&
            said.find("lower checkpoint.keep") != said.npos,
        said.c_str());
    const auto none = preflight(
        load("llama3-1b", "[checkpoint]\nenabled = false\n[hardware]\nranks = 2\n"), on({full}));
    QVERIFY2(line(none, "disk").starts_with("pass disk: no checkpoints"),
             line(none, "disk").c_str());
    // A host where that cannot be told (it has no df) is not one whose disk is full.
    full.report.free_disk_bytes = 0;
    const auto unknown = preflight(load("llama3-1b", every), on({full}));
    QVERIFY2(may_start(unknown), lines_of(unknown, Status::fail).c_str());
    QVERIFY2(line(unknown, "disk").ends_with("what is free at ~/.heddle is not known"),
             line(unknown, "disk").c_str());
  }

  void inputs_are_looked_at() {
    const auto recipe = load("llama3-debug", "[hardware]\nranks = 2\n");
    std::ofstream(path("corpus.txt"), std::ios::trunc).flush();
    QCOMPARE(line(preflight(recipe, on({host()})), "data"),
             "fail " + path("r.toml") + ":5:9: data.text: " + path("corpus.txt") +
                 " is empty; a file or folder of this machine; relative paths start at the "
                 "recipe's folder");
    QFile::remove(folder_.filePath("tokenizer.json"));
    const auto both = preflight(recipe, on({host()}));
    QCOMPARE(
        std::count_if(both.begin(), both.end(), [](const Finding& f) { return f.name == "data"; }),
        2);
    QVERIFY(!may_start(both));
  }

  void a_tokenizer_that_is_none() {
    const auto loaded = checkpoint::load_recipe(
        "[model]\npreset = \"llama3-debug\"\n[data]\ntext = [\"corpus.txt\"]\n"
        "tokenizer = \"tokenizer.json\"\n[hardware]\nranks = 2\n",
        path("r.toml"));
    const std::string said = line(preflight(loaded, on({host()})), "tokenizer");
    QVERIFY2(said.starts_with("fail " + path("r.toml") + ":5:13: data.tokenizer: "), said.c_str());
  }

  void hosts_share_and_are_brought_what_they_lack() {
    HostNow far = host();
    far.engine_bytes = 512 << 20;
    HostNow full = far;
    full.name = "full";
    full.report.free_disk_bytes = 100 << 20;
    const auto recipe = load("llama3-debug", "[hardware]\nranks = 4\n");
    const auto found = preflight(recipe, on_lab({far, full}));
    QVERIFY2(line(found, "disk of node").starts_with("pass disk of node: ") &&
                 line(found, "disk of node").find("512 MiB to bring there") != std::string::npos,
             line(found, "disk of node").c_str());
    QVERIFY(line(found, "disk of full").starts_with("fail "));
    QCOMPARE(line(found, "cores of node"), std::string("pass cores of node: 2 ranks on 64 cores"));
    const auto odd = preflight(load("llama3-debug", "[hardware]\nranks = 3\n"), on_lab({far, far}));
    QCOMPARE(line(odd, "ranks"), "fail " + path("r.toml") +
                                     ":9:9: hardware.ranks: 3 do not divide among the 2 hosts of "
                                     "lab; a multiple of 2");
  }

  void a_target_that_does_not_answer() {
    remote::Target away;
    away.name = "away";
    away.hosts = {*remote::parse_host("nobody@127.0.0.1:1")};
    const TargetNow now = look_at(away);
    QVERIFY(now.refused);
    const auto found = preflight(load("llama3-debug", "[hardware]\nranks = 2\n"), now);
    QVERIFY(!may_start(found));
    QVERIFY(line(found, "target").find("127.0.0.1") != std::string::npos);
  }

  void this_machine_as_it_is() {
    const TargetNow now = look_at(remote::this_machine());
    QCOMPARE(now.hosts.size(), size_t(1));
    QVERIFY(now.hosts[0].report.available_bytes > 0);
    const auto found = preflight(load("llama3-405b", "[hardware]\nranks = 4096\n"), now);
    QVERIFY(line(found, "memory").starts_with("fail "));
    QVERIFY(line(found, "cores").starts_with("fail "));
  }
};

HEDDLE_TEST(PreflightTest)
#include "preflight_test.moc"
