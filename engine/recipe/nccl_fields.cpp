#include "engine/recipe/nccl_fields.h"

#include "engine/recipe/fields.h"

namespace heddle::recipe {
namespace {

/// Names of interfaces or cards, as NCCL's variables have them.
Field device_names_field(std::string key, std::string Nccl::*member) {
  const std::string valid = "names as in \"eth0\" or \"mlx5_0,mlx5_1\", \"\" for none";
  return {{std::move(key), "string", "", valid},
          [=](const toml::node& node, Recipe& recipe, const Complain& complain) {
            constexpr std::string_view allowed =
                "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-.:,@=^";
            const auto names = node.value_exact<std::string>();
            if (!names) {
              complain_of_type(complain, node, "a string", valid);
            } else if (names->find_first_not_of(allowed) != std::string::npos) {
              complain(node, fmt::format("{} names no device", quote(*names)), valid, "");
            } else {
              recipe.nccl.*member = *names;
            }
          },
          [=](const Recipe& recipe) { return quote(recipe.nccl.*member); }};
}

}  // namespace

std::vector<Field> nccl_fields() {
  using R = Recipe;
  return {
      device_names_field("nccl.interface", &Nccl::interface)
          .says(
              "NCCL interface", "",
              "The network interface by which NCCL starts, and sends where there is no InfiniBand; "
              "none: the one by which the ranks reach each other.")
          .zero("the ranks' own"),
      device_names_field("nccl.hca", &Nccl::hca)
          .says("NCCL cards", "",
                "The InfiniBand and RoCE cards that NCCL uses, as NCCL_IB_HCA has them; none: all "
                "that it finds near the GPUs.")
          .zero("all"),
      choice("nccl.algo", &R::nccl, &Nccl::algo,
             named({"auto", "ring", "tree", "nvls", "nvlstree", "collnetdirect", "collnetchain",
                    "pat"}))
          .says("NCCL algorithm", "",
                "How a collective goes around (NCCL_ALGO); auto: as NCCL chooses for its size."),
      choice("nccl.proto", &R::nccl, &Nccl::proto, named({"auto", "simple", "ll", "ll128"}))
          .says("NCCL protocol", "",
                "How a collective's pieces are handed on (NCCL_PROTO): simple has the most "
                "bandwidth, ll the least latency; auto: as NCCL chooses for its size."),
      choice("nccl.p2p", &R::nccl, &Nccl::p2p,
             named({"auto", "loc", "nvl", "pix", "pxb", "phb", "sys"}))
          .says("NCCL peers", "",
                "How far apart GPUs of a host may be to write each other's memory "
                "(NCCL_P2P_LEVEL): loc never, nvl over NVLink, pix and pxb over PCIe switches, phb "
                "within a NUMA node, sys anywhere."),
      choice("nccl.cta_policy", &R::nccl, &Nccl::cta_policy,
             named({"auto", "default", "efficiency", "zero"}))
          .says("NCCL blocks", "",
                "What collectives take of the GPU's multiprocessors (NCCL_CTA_POLICY): zero none "
                "where the copy engines can do it, efficiency fewer, default as many as are "
                "fastest."),
      integer("nccl.buffer", &R::nccl, &Nccl::buffer, 0, int64_t{1} << 30)
          .says("NCCL buffer", "bytes",
                "Of each channel between two GPUs (NCCL_BUFFSIZE); 0: NCCL's own, 4 MiB.")
          .zero("auto")
          .steps(Step::doubling),
      choice("nccl.debug", &R::nccl, &Nccl::debug,
             named({"none", "version", "warn", "info", "trace"}))
          .says("NCCL tells", "", "What NCCL writes into each rank's rank-R.err (NCCL_DEBUG)."),
  };
}

}  // namespace heddle::recipe
