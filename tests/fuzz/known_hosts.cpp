// A known_hosts file, and what it says of keys that a host presents.
#include "remote/known_hosts.h"

#include "tests/fuzz/input.h"

using namespace heddle;
using namespace heddle::remote;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view input = fuzz::text(data, size);
  const std::string path = fuzz::file("known_hosts", input);
  Host host;
  host.name = host.address = "node";
  for (const uint16_t port : {22, 2200}) {
    host.port = port;
    const auto known = KnownHosts::read({path}, host);
    if (!known) continue;
    (void)known->types();
    // The key of the seeds, and the key that the input has here.
    const std::string key =
        from_base64("AAAAC3NzaC1lZDI1NTE5AAAAIAABAgMEBQYHCAkKCwwNDg8QERITFBUWFxgZGhscHR4f");
    (void)known->judge(key);
    (void)known->judge(std::string(input));
  }
  (void)type_of_key(input);
  (void)from_base64(input);
  return 0;
}
