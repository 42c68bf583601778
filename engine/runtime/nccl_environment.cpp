#include "engine/runtime/nccl_environment.h"

#include <cctype>
#include <cstdlib>

namespace heddle::runtime {
namespace {

std::string upper(std::string word) {
  for (char& c : word) c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  return word;
}

/// NCCL_CTA_POLICY_… of nccl.h.
const char* cta_policy(const std::string& word) {
  return word == "zero" ? "2" : word == "efficiency" ? "1" : "0";
}

}  // namespace

std::map<std::string, std::string> nccl_environment(const recipe::Nccl& nccl,
                                                    const std::string& interface,
                                                    bool deterministic) {
  std::map<std::string, std::string> variables;
  const auto set = [&](const char* name, const std::string& value) {
    if (!value.empty()) variables[name] = value;
  };
  // "=": this interface, and not all whose names begin so.
  if (const std::string& named = nccl.interface.empty() ? interface : nccl.interface;
      !named.empty())
    set("NCCL_SOCKET_IFNAME", "=" + named);
  set("NCCL_IB_HCA", nccl.hca);
  if (nccl.algo != "auto") set("NCCL_ALGO", nccl.algo);
  if (nccl.proto != "auto") set("NCCL_PROTO", nccl.proto);
  if (nccl.p2p != "auto") set("NCCL_P2P_LEVEL", upper(nccl.p2p));
  if (nccl.cta_policy != "auto") set("NCCL_CTA_POLICY", cta_policy(nccl.cta_policy));
  if (nccl.buffer > 0) set("NCCL_BUFFSIZE", std::to_string(nccl.buffer));
  if (nccl.debug != "none") set("NCCL_DEBUG", upper(nccl.debug));
  if (deterministic) {
    set("NCCL_NVLS_ENABLE", "0");
    set("NCCL_COLLNET_ENABLE", "0");
  }
  return variables;
}

void set_nccl_environment(const recipe::Nccl& nccl, const std::string& interface,
                          bool deterministic) {
  constexpr int kUnlessSet = 0, kAlways = 1;
  for (const auto& [name, value] : nccl_environment(nccl, interface, deterministic))
    setenv(name.c_str(), value.c_str(),
           name == "NCCL_SOCKET_IFNAME" && nccl.interface.empty() ? kUnlessSet : kAlways);
}

}  // namespace heddle::runtime
