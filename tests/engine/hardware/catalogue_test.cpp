// The catalogue that ships with Heddle, and files of users' own with everything wrong in turn.
#include "engine/hardware/catalogue.h"

#include <QFile>
#include <QTemporaryDir>
#include <QTest>
#include <algorithm>

#include "engine/hardware/fields.h"
#include "engine/hardware/nodes_in_use.h"
#include "tests/support/test_class.h"

using namespace heddle;

namespace {

// A device, a network and a node that are right.
const QByteArray kRight = R"([device.loom]
title = "Loom 1"
driver = ["Loom 1"]
multiprocessors = { value = 10, from = "data-sheet", source = "s" }
memory_gib = { value = 16, from = "data-sheet", source = "s" }
memory_gb_per_s = { value = 500, from = "data-sheet", source = "s" }
memory_reach = { value = 0.8, from = "guess", source = "s" }
bf16_peak_tflops = { value = 100, from = "data-sheet", source = "s" }
bf16_best_tflops = { value = 80, from = "measured", source = "by me" }
fp32_peak_tflops = { value = 10, from = "data-sheet", source = "s" }
attention_forward_tflops = { value = 50, from = "guess", source = "s" }
attention_backward_tflops = { value = 40, from = "guess", source = "s" }
sdpa_forward_tflops = { value = 40, from = "guess", source = "s" }
sdpa_backward_tflops = { value = 30, from = "guess", source = "s" }
graph_launch_us = { value = 2, from = "guess", source = "s" }
framework_launch_us = { value = 7, from = "guess", source = "s" }
transfer_multiprocessors = { value = 2, from = "guess", source = "s" }
transfer_slowdown = { value = 0.1, from = "guess", source = "s" }
sustained_share = { value = 0.9, from = "guess", source = "s" }
context_gib = { value = 1, from = "guess", source = "s" }
[network.thread]
title = "a thread"
gb_per_s = { value = 10, from = "data-sheet", source = "s" }
reach = { value = 0.9, from = "guess", source = "s" }
step_us = { value = [3, 4, 14], from = "guess", source = "s" }
[node.loom]
title = "a frame"
device = "loom"
network = "thread"
devices = 4
nics = 1
link_gb_per_s = { value = 50, from = "data-sheet", source = "s" }
link_reach = { value = 0.7, from = "guess", source = "s" }
base_us = { value = [6, 14, 8], from = "guess", source = "s" }
step_us = { value = [0.6, 2, 3], from = "guess", source = "s" }
buffers_gib = { value = 0.5, from = "guess", source = "s" }
gather = [
  { ranks = 2, latency_us = 8, gb_per_s = 60, from = "measured", source = "by me" },
  { ranks = 4, latency_us = 9, gb_per_s = 40, from = "measured", source = "by me" },
]
)";

hardware::Catalogue read(const QByteArray& text) {
  return hardware::read_catalogue({{"mine.toml", text.toStdString()}});
}

QString told(const hardware::Catalogue& catalogue) {
  QStringList lines;
  for (const recipe::Fault& fault : catalogue.faults) lines << QString::fromStdString(fault.str());
  return lines.join("\n");
}

}  // namespace

class CatalogueTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void what_ships_is_whole() {
    const auto catalogue = hardware::read_catalogue(hardware::built_in());
    QVERIFY2(catalogue.faults.empty(), qPrintable(told(catalogue)));
    for (const char* name : {"a100-40", "a100-80", "h100-sxm", "h100-pcie", "h100-nvl", "h100-96gb",
                             "h200", "b200", "gb200", "l40s", "mi300x"}) {
      const auto entry = catalogue.find(name);
      QVERIFY2(entry.has_value(), name);
      QVERIFY(!hardware::words(*entry).empty());
    }
  }

  // The built-in entries are made from the files in resources.
  void it_is_what_resources_has() {
    QCOMPARE(hardware::built_in().size(), size_t{8});
    for (const hardware::Source& source : hardware::built_in()) {
      QFile file(QString(HEDDLE_SOURCE_DIR) + "/" + QString::fromStdString(source.file));
      QVERIFY(file.open(QFile::ReadOnly));
      QCOMPARE(QByteArray::fromStdString(source.text), file.readAll());
    }
  }

  void every_number_says_where_it_is_from() {
    const auto catalogue = hardware::read_catalogue(hardware::built_in());
    for (const std::string& name : catalogue.names()) {
      const auto entry = catalogue.find(name).value();
      for (const auto& field : hardware::numbers(&entry.device))
        QVERIFY2((entry.device.*field.member).known() || !field.required, field.key);
      for (const auto& field : hardware::numbers(&entry.node))
        QVERIFY2((entry.node.*field.member).known(), field.key);
      for (const auto& field : hardware::numbers(&entry.network))
        QVERIFY2((entry.network.*field.member).known(), field.key);
      for (const auto& field : hardware::measured_rates())
        for (const hardware::LinkRate& rate : entry.node.*field.member)
          QVERIFY2(rate.gb_per_s.known() && rate.latency_us.known(), field.key);
      for (const std::string& line : hardware::sources(entry))
        QVERIFY2(line.find(": ") != line.npos && !line.ends_with(": "), line.c_str());
    }
  }

  void a_users_file_is_read() {
    const auto catalogue = read(kRight);
    QVERIFY2(catalogue.faults.empty(), qPrintable(told(catalogue)));
    const auto entry = catalogue.find("loom").value();
    QCOMPARE(entry.device.memory_gib.value, 16.0);
    QCOMPARE(entry.device.bf16_best_tflops.origin, hardware::Origin::measured);
    QCOMPARE(entry.device.bf16_best_tflops.source, std::string("by me"));
    QCOMPARE(entry.node.gather[1].gb_per_s.value, 40.0);
    QCOMPARE(entry.network.step_us.value[2], 14.0);
    QCOMPARE(hardware::words(entry), std::string("4 × Loom 1, a frame; a thread"));
    QCOMPARE(hardware::sources(entry).front(), std::string("measured: by me"));
  }

  // Each row replaces a line of the right file by others, and tells the fault's line.
  void what_is_wrong_is_told_with_its_place_data() {
    QTest::addColumn<QByteArray>("line");
    QTest::addColumn<QByteArray>("instead");
    QTest::addColumn<QString>("fault");
    const auto row = [](const char* name, const char* line, const char* instead,
                        const char* fault) {
      QTest::newRow(name) << QByteArray(line) << QByteArray(instead) << QString(fault);
    };
    row("missing", "memory_gib = { value = 16, from = \"data-sheet\", source = \"s\" }\n", "",
        "mine.toml:1:1: device.loom.memory_gib: is missing; valid: { value =");
    row("absurd", "value = 16,", "value = 16e9,",
        "mine.toml:5:24: device.loom.memory_gib: 16000000000.0 is out of range; valid: 0.25 to "
        "4096 (GiB)");
    row("negative", "value = 500,", "value = -500,",
        "mine.toml:6:29: device.loom.memory_gb_per_s: -500");
    row("no number", "value = 500,", "value = inf,", "mine.toml:6:29: device.loom.memory_gb_per_s");
    row("a text", "value = 500,", "value = \"500 GB/s\",",
        "mine.toml:6:29: device.loom.memory_gb_per_s: ");
    row("a share above one", "value = 0.8,", "value = 80,",
        "mine.toml:7:26: device.loom.memory_reach: 80");
    row("no provenance", "memory_reach = { value = 0.8, from = \"guess\", source = \"s\" }",
        "memory_reach = 0.8",
        "device.loom.memory_reach: 0.8 does not say where it is from; valid:");
    row("no value", "memory_reach = { value = 0.8,", "memory_reach = {",
        "device.loom.memory_reach: has no value; valid: 0.05 to 1 (a share)");
    row("no source", "from = \"measured\", source = \"by me\" }\nfp32",
        "from = \"measured\" }\nfp32",
        "mine.toml:9:20: device.loom.bf16_best_tflops.source: is missing; valid: who measured");
    row("another origin", "80, from = \"measured\"", "80, from = \"mesured\"",
        "device.loom.bf16_best_tflops.from: \"mesured\" is no origin; valid: measured | data-sheet "
        "| guess (did you mean measured)");
    row("unknown key", "memory_gib =", "memory_gb =",
        "mine.toml:5:13: device.loom.memory_gb: unknown key; valid: like, title, driver");
    row("best above peak", "value = 80,", "value = 800,",
        "mine.toml:9:20: device.loom.bf16_best_tflops: 800 is more than bf16_peak_tflops, which is "
        "100; valid: 100 or less");
    row("a graph slower than a framework", "graph_launch_us = { value = 2,",
        "graph_launch_us = { value = 20,",
        "device.loom.graph_launch_us: 20 is more than framework_launch_us, which is 7");
    row("fp8 by half", "fp32_peak_tflops",
        "fp8_peak_tflops = { value = 200, from = \"guess\", source = \"s\" }\nfp32_peak_tflops",
        "device.loom.fp8_best_tflops: is missing, and fp8_peak_tflops is there; valid: both or "
        "neither");
    row("parts that do not divide", "devices = 4", "devices = 4\npart = 3",
        "node.loom.part: 4 devices do not divide into parts of 3; valid: a divisor of devices");
    row("more ranks than devices", "ranks = 4,", "ranks = 8,",
        "node.loom.gather: 8 ranks are more than the node's 4 devices; valid: 2 to 4 ranks");
    row("ranks twice", "ranks = 4,", "ranks = 2,", "node.loom.gather: 2 ranks come after 2");
    row("a rate without ranks", "{ ranks = 4, ", "{ ", "node.loom.gather.ranks: is missing");
    row("two protocols", "[6, 14, 8]", "[6, 14]",
        "node.loom.base_us: a list is not one number for each protocol; valid: three numbers");
    row("LL slower", "[6, 14, 8]", "[16, 14, 8]", "node.loom.base_us: LL takes 16, longer than");
    row("links faster than memory", "link_gb_per_s = { value = 50,",
        "link_gb_per_s = { value = 5e3,",
        "node.loom.link_gb_per_s: 5000 is more than memory_gb_per_s of loom, which is 500");
    row("unknown device", "device = \"loom\"", "device = \"lom\"",
        "mine.toml:28:10: node.loom.device: \"lom\" is no device; valid: loom (did you mean loom)");
    row("unknown network", "network = \"thread\"", "network = \"rope\"",
        "node.loom.network: \"rope\" is no network; valid: thread");
    row("like nothing", "title = \"Loom 1\"", "title = \"Loom 1\"\nlike = \"lomo\"",
        "mine.toml:3:8: device.loom.like: \"lomo\" is no device; valid: loom (did you mean loom)");
    row("like itself", "title = \"Loom 1\"", "title = \"Loom 1\"\nlike = \"loom\"",
        "mine.toml:3:8: device.loom.like: loom has a fault itself, or is like this one");
    row("unknown section", "[network.thread]", "[netwrk.thread]",
        "mine.toml:21:1: netwrk: unknown section; valid: [device.NAME], [node.NAME], "
        "[network.NAME], [program.NAME] (did you mean network)");
    row("a name that cannot be", "[network.thread]", "[network.\"a@b\"]",
        "mine.toml:21:1: network.a@b: cannot be a name");
    row("no TOML", "[network.thread]", "[network.thread", "mine.toml:21:");
  }
  void what_is_wrong_is_told_with_its_place() {
    QFETCH(QByteArray, line);
    QFETCH(QByteArray, instead);
    QFETCH(QString, fault);
    QByteArray text = kRight;
    const auto at = text.indexOf(line);
    QVERIFY(at >= 0);
    const auto catalogue = read(text.replace(at, line.size(), instead));
    QVERIFY2(told(catalogue).contains(fault), qPrintable(told(catalogue)));
    const auto found = catalogue.find("loom");
    QVERIFY(!found);
  }

  void what_is_like_another_is_a_guess() {
    const auto catalogue = read(kRight + R"([device.wide]
like = "loom"
title = "Wide"
memory_gib = { value = 32, from = "data-sheet", source = "its own" }
[node.wide]
like = "loom"
title = "a wide frame"
device = "wide"
)");
    QVERIFY2(catalogue.faults.empty(), qPrintable(told(catalogue)));
    const auto entry = catalogue.find("wide").value();
    QCOMPARE(entry.device.memory_gib.value, 32.0);
    QCOMPARE(entry.device.memory_gib.origin, hardware::Origin::data_sheet);
    QCOMPARE(entry.device.bf16_best_tflops.value, 80.0);
    QCOMPARE(entry.device.bf16_best_tflops.origin, hardware::Origin::guess);
    QCOMPARE(entry.device.bf16_best_tflops.source, std::string("as of loom: by me"));
    QCOMPARE(entry.node.gather[1].gb_per_s.origin, hardware::Origin::guess);
    QCOMPARE(entry.node.devices, int64_t{4});
    QVERIFY(entry.device.driver.empty());
  }

  void a_node_like_another_has_its_device() {
    const auto catalogue = read(kRight + R"([node.mine]
like = "loom"
title = "my frame"
)");
    QVERIFY2(catalogue.faults.empty(), qPrintable(told(catalogue)));
    QCOMPARE(catalogue.find("mine").value().device.name, std::string("loom"));
  }

  void links_of_another_rate_are_not_those_that_were_measured() {
    const auto catalogue = read(kRight + R"([node.slow]
like = "loom"
title = "a slow frame"
link_gb_per_s = { value = 5, from = "data-sheet", source = "s" }
)");
    QVERIFY2(catalogue.faults.empty(), qPrintable(told(catalogue)));
    QVERIFY(catalogue.find("slow").value().node.gather.empty());
  }

  // Whole nodes, or as many trays of each.
  void nodes_are_used_whole_or_in_equal_parts_data() {
    QTest::addColumn<QString>("name");
    QTest::addColumn<int>("ranks");
    QTest::addColumn<int>("used");  // of each node; 0: it cannot be
    QTest::newRow("in a rack") << "gb200" << 36 << 72;
    QTest::newRow("a rack") << "gb200" << 72 << 72;
    QTest::newRow("two racks") << "gb200" << 144 << 72;
    QTest::newRow("128") << "gb200" << 128 << 64;
    QTest::newRow("256") << "gb300" << 256 << 64;
    QTest::newRow("512") << "gb200" << 512 << 64;
    QTest::newRow("more racks than there must be") << "gb200" << 100 << 20;
    QTest::newRow("no whole trays") << "gb200" << 130 << 0;
    QTest::newRow("a part of a node") << "h100-sxm" << 12 << 0;
    QTest::newRow("two nodes") << "h100-sxm" << 16 << 8;
  }
  void nodes_are_used_whole_or_in_equal_parts() {
    QFETCH(QString, name);
    QFETCH(int, ranks);
    QFETCH(int, used);
    const auto catalogue = hardware::read_catalogue(hardware::built_in());
    const hardware::Node& node = catalogue.nodes.at(name.toStdString());
    QCOMPARE(hardware::devices_in_use(node, ranks).value_or(0), int64_t{used});
    const hardware::Node in_use = hardware::in_use(node, ranks);
    // A device has as much of the network as ever.
    QCOMPARE(in_use.nics * node.devices, node.nics * in_use.devices);
    QCOMPARE(hardware::unused_words(node, ranks).empty(), used == 0 || used == node.devices);
  }

  void what_cannot_be_used_is_told_with_what_can() {
    const auto catalogue = hardware::read_catalogue(hardware::built_in());
    const auto near = [&](const char* name, int64_t ranks) {
      return hardware::nearest_usable(catalogue.nodes.at(name), ranks);
    };
    QCOMPARE(near("gb200", 130), (std::vector<int64_t>{128, 132}));
    QCOMPARE(near("h100-sxm", 12), (std::vector<int64_t>{8, 16}));
  }

  // Nodes of all devices that are sold in some, or a device that nobody can plan for.
  void every_device_has_a_node() {
    const auto catalogue = hardware::read_catalogue(hardware::built_in());
    QVERIFY2(catalogue.faults.empty(), qPrintable(told(catalogue)));
    for (const auto& [name, device] : catalogue.devices)
      QVERIFY2(std::ranges::any_of(catalogue.nodes,
                                   [&](const auto& node) { return node.second.device == name; }),
               name.c_str());
  }

  void a_price_is_of_the_entry_that_says_it() {
    const QByteArray priced =
        kRight + "usd_per_device_hour = { value = 2.5, from = \"data-sheet\", source = \"s\" }\n";
    const auto catalogue = read(priced +
                                "[node.wide]\nlike = \"loom\"\ntitle = \"w\"\n"
                                "device = \"loom\"\n");
    QVERIFY2(catalogue.faults.empty(), qPrintable(told(catalogue)));
    QCOMPARE(catalogue.find("loom").value().node.usd_per_device_hour.value, 2.5);
    QVERIFY(!catalogue.find("wide").value().node.usd_per_device_hour.known());
    const auto slip = read(QByteArray(priced).replace("value = 2.5", "value = 25000"));
    QVERIFY2(told(slip).contains("node.loom.usd_per_device_hour"), qPrintable(told(slip)));
  }

  void a_users_entry_takes_the_place_of_what_ships() {
    QByteArray mine = kRight;
    mine.replace(".loom]", ".l40s]").replace("\"loom\"", "\"l40s\"");
    const QTemporaryDir folder;
    const auto write = [&](const char* name, const QByteArray& text) {
      QFile file(folder.filePath(name));
      QVERIFY(file.open(QFile::WriteOnly) && file.write(text) == text.size());
    };
    write("mine.toml", mine);
    write("notes.txt", "no TOML");
    const auto one = hardware::load_catalogue(folder.path().toStdString());
    QVERIFY2(one.faults.empty(), qPrintable(told(one)));
    QCOMPARE(one.find("l40s").value().device.title, std::string("Loom 1"));
    QVERIFY(one.find("h100-sxm").has_value());
    // The same entry in two of the user's files: neither can be meant more than the other.
    write("zwei.toml", mine);
    const auto two = hardware::load_catalogue(folder.path().toStdString());
    QVERIFY2(told(two).contains("mine.toml:1 describes it as well; valid: once in all files"),
             qPrintable(told(two)));
  }

  void a_faulty_file_leaves_the_others() {
    auto sources = hardware::built_in();
    sources.push_back({"mine.toml", "[device.loom"});
    const auto catalogue = hardware::read_catalogue(sources);
    QCOMPARE(catalogue.faults.size(), size_t{1});
    QVERIFY(catalogue.find("h100-sxm").has_value());
  }

  void an_unknown_name_is_told_with_the_nearest() {
    const auto catalogue = hardware::read_catalogue(hardware::built_in());
    const auto message = [&](const char* name) {
      return QString::fromStdString(catalogue.find(name).error().message);
    };
    QVERIFY2(message("h100-smx").contains("valid: this-machine, a100-40, a100-80"),
             qPrintable(message("h100-smx")));
    QVERIFY(message("h100-smx").endsWith("(did you mean h100-sxm)"));
    QVERIFY2(message("abacus").contains("mi300x, mi325x"), qPrintable(message("abacus")));
    QVERIFY2(message("h100-sxm@infiniband-ndt").endsWith("did you mean h100-sxm@infiniband-ndr)"),
             qPrintable(message("h100-sxm@infiniband-ndt")));
    const auto slow = catalogue.find("h100-sxm@ethernet-100g").value();
    QCOMPARE(slow.network.gb_per_s.value, 12.5);
    QCOMPARE(slow.name, std::string("h100-sxm@ethernet-100g"));
  }

  void a_gpu_is_known_by_its_name_data() {
    QTest::addColumn<double>("tflops");  // 0: not known
    QTest::newRow("NVIDIA H200") << 989.0;
    QTest::newRow("NVIDIA H100 80GB HBM3") << 989.0;
    QTest::newRow("NVIDIA H100 PCIe") << 756.0;
    QTest::newRow("NVIDIA H100 NVL") << 835.0;
    QTest::newRow("NVIDIA H200 NVL") << 835.0;
    QTest::newRow("NVIDIA H100 80GB HBM3 MIG 1g.10gb") << 0.0;
    QTest::newRow("NVIDIA A100-SXM4-80GB") << 312.0;
    QTest::newRow("NVIDIA A100-SXM4-40GB") << 312.0;
    QTest::newRow("NVIDIA B200") << 2250.0;
    QTest::newRow("NVIDIA GB200") << 2500.0;
    QTest::newRow("NVIDIA B300 SXM6 AC") << 2250.0;
    QTest::newRow("NVIDIA GB300") << 2500.0;
    QTest::newRow("NVIDIA H800") << 989.0;
    QTest::newRow("NVIDIA GH200 480GB") << 989.0;
    QTest::newRow("NVIDIA H20") << 148.0;
    QTest::newRow("NVIDIA L40S") << 362.0;
    QTest::newRow("NVIDIA L40") << 0.0;
    QTest::newRow("AMD Instinct MI355X") << 2517.0;
    QTest::newRow("NVIDIA GeForce RTX 4090") << 165.2;
    QTest::newRow("NVIDIA GeForce RTX 4090 D") << 0.0;
    QTest::newRow("NVIDIA GeForce RTX 4090 Laptop GPU") << 0.0;
    QTest::newRow("NVIDIA GeForce RTX 3090") << 71.0;
    QTest::newRow("NVIDIA GeForce RTX 3090 Ti") << 0.0;
    QTest::newRow("NVIDIA RTX 6000 Ada Generation") << 364.2;
    QTest::newRow("NVIDIA RTX PRO 6000 Blackwell Workstation Edition") << 503.8;
    QTest::newRow("NVIDIA GeForce RTX 4080") << 0.0;
    QTest::newRow("") << 0.0;
  }
  void a_gpu_is_known_by_its_name() {
    QFETCH(double, tflops);
    const auto catalogue = hardware::read_catalogue(hardware::built_in());
    const hardware::Device* device = catalogue.of_driver(QTest::currentDataTag());
    QCOMPARE(device != nullptr, tflops > 0);
    if (device) QCOMPARE(device->bf16_peak_tflops.value, tflops);
  }

  void forms_of_one_gpu_are_told_apart() {
    const auto catalogue = hardware::read_catalogue(hardware::built_in());
    QCOMPARE(catalogue.of_driver("NVIDIA A100-SXM4-80GB")->name, std::string("a100-80"));
    QCOMPARE(catalogue.of_driver("NVIDIA A100-SXM4-40GB")->name, std::string("a100-40"));
    QCOMPARE(catalogue.of_driver("NVIDIA H100 80GB HBM3")->name, std::string("h100-sxm"));
  }
};

HEDDLE_TEST(CatalogueTest)
#include "catalogue_test.moc"
