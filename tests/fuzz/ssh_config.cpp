// An ssh_config file: its hosts, and one of them resolved.
#include "remote/ssh_config.h"

#include "tests/fuzz/input.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string path = heddle::fuzz::file("config", heddle::fuzz::text(data, size));
  (void)heddle::remote::ConfiguredHosts(path).now();
  (void)heddle::remote::resolve_host("ann@node:2200", path);
  return 0;
}
