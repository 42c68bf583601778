#include "engine/runs/rendezvous.h"

namespace heddle::runs {

std::string rendezvous_file(const std::string& run_dir) { return run_dir + "/rendezvous"; }

std::string secret_file(const std::string& run_dir) { return run_dir + "/secret"; }

Result<> check_reach(const Address& address, bool public_addresses) {
  if (public_addresses || !is_public(address)) return {};
  return fail(
      "{} is a public address: the whole internet could knock at the ranks; name the target's "
      "hosts "
      "by addresses of a private network, or allow it: heddle targets add … --replace --public",
      ip_text(address));
}

Result<Socket> open_rendezvous(const std::string& host, uint16_t port, bool public_addresses) {
  auto listener = listen_on(host, port);
  if (!listener)
    return fail("rendezvous: {}; valid: an address of the host of rank 0",
                listener.error().message);
  const auto reach = check_reach(own_address(*listener), public_addresses);
  if (!reach) return fail("rendezvous: {}", reach.error().message);
  return listener;
}

}  // namespace heddle::runs
