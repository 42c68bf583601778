// NCCL's variables, from the recipe and the address of the host.
#include "engine/runtime/nccl_environment.h"

#include <QTest>

#include "engine/recipe/parse.h"
#include "tests/support/test_class.h"

using namespace heddle;
using Variables = std::map<std::string, std::string>;

class NcclEnvironmentTest : public QObject {
  Q_OBJECT

  static recipe::Nccl nccl(const std::string& keys) {
    return recipe::parse("[nccl]\n" + keys, "recipe.toml").recipe.nccl;
  }

 private Q_SLOTS:
  void the_interface_is_that_of_the_ranks_unless_it_is_given() {
    QVERIFY(runtime::nccl_environment({}, "") == Variables());
    QVERIFY(runtime::nccl_environment({}, "eth0") == Variables({{"NCCL_SOCKET_IFNAME", "=eth0"}}));
    QVERIFY(runtime::nccl_environment(nccl("interface = \"ib0\""), "eth0") ==
            Variables({{"NCCL_SOCKET_IFNAME", "=ib0"}}));
    QVERIFY(runtime::nccl_environment(nccl("interface = \"ib0\""), "") ==
            Variables({{"NCCL_SOCKET_IFNAME", "=ib0"}}));
  }

  void each_key_is_a_variable() {
    QVERIFY(runtime::nccl_environment(
                nccl("hca = \"mlx5_0,mlx5_3\"\nalgo = \"nvlstree\"\nproto = \"ll128\"\n"
                     "p2p = \"pxb\"\ncta_policy = \"zero\"\nbuffer = 8388608\ndebug = \"info\""),
                "") == Variables({{"NCCL_IB_HCA", "mlx5_0,mlx5_3"},
                                  {"NCCL_ALGO", "nvlstree"},
                                  {"NCCL_PROTO", "ll128"},
                                  {"NCCL_P2P_LEVEL", "PXB"},
                                  {"NCCL_CTA_POLICY", "2"},
                                  {"NCCL_BUFFSIZE", "8388608"},
                                  {"NCCL_DEBUG", "INFO"}}));
    QVERIFY(runtime::nccl_environment(nccl("cta_policy = \"default\""), "") ==
            Variables({{"NCCL_CTA_POLICY", "0"}}));
    QVERIFY(runtime::nccl_environment(nccl("cta_policy = \"efficiency\""), "") ==
            Variables({{"NCCL_CTA_POLICY", "1"}}));
  }

  void nothing_is_summed_within_switches_where_bits_must_be_the_same() {
    QVERIFY(runtime::nccl_environment(nccl("algo = \"tree\""), "", true) ==
            Variables(
                {{"NCCL_ALGO", "tree"}, {"NCCL_COLLNET_ENABLE", "0"}, {"NCCL_NVLS_ENABLE", "0"}}));
  }

  void the_recipe_prevails_over_the_environment_and_that_over_a_guess() {
    qputenv("NCCL_SOCKET_IFNAME", "mine");
    qputenv("NCCL_ALGO", "Tree");
    runtime::set_nccl_environment({}, "eth0");
    QCOMPARE(qgetenv("NCCL_SOCKET_IFNAME"), QByteArray("mine"));
    QCOMPARE(qgetenv("NCCL_ALGO"), QByteArray("Tree"));
    runtime::set_nccl_environment(nccl("interface = \"eth1\"\nalgo = \"ring\""), "eth0");
    QCOMPARE(qgetenv("NCCL_SOCKET_IFNAME"), QByteArray("=eth1"));
    QCOMPARE(qgetenv("NCCL_ALGO"), QByteArray("ring"));
  }

  void what_names_no_device_is_refused() {
    for (const char* wrong : {"interface = \"eth 0\"", "hca = \"a;b\"", "algo = \"Ring\"",
                              "buffer = -1", "debug = 3", "p2p = \"far\""}) {
      const auto parsed = recipe::parse(std::string("[nccl]\n") + wrong, "recipe.toml");
      QVERIFY2(std::ranges::any_of(
                   parsed.faults, [](const auto& fault) { return fault.key.starts_with("nccl."); }),
               wrong);
    }
  }
};

HEDDLE_TEST(NcclEnvironmentTest)
#include "nccl_environment_test.moc"
