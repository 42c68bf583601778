#include "engine/launch/rendezvous.h"

namespace heddle::launch {

std::string rendezvous_file(const std::string& run_dir) { return run_dir + "/rendezvous"; }

Result<Socket> open_rendezvous(const std::string& host, uint16_t port) {
  auto listener = listen_on(host, port);
  if (!listener)
    return fail("rendezvous: {}; valid: an address of the host of rank 0",
                listener.error().message);
  return listener;
}

}  // namespace heddle::launch
