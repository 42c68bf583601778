#include <algorithm>

#include "workbench/backend.h"
#include "workbench/backends/hosts.h"
#include "workbench/backends/slurm.h"

namespace heddle::workbench {

const std::vector<const Backend*>& backends() {
  static const SlurmCluster slurm;  // its login node may be this machine
  static const ThisMachine this_machine;
  static const SshHosts ssh_hosts;
  static const std::vector<const Backend*> all{&slurm, &this_machine, &ssh_hosts};
  return all;
}

const Backend& backend_of(const remote::Target& target) {
  return **std::ranges::find_if(backends(),
                                [&](const Backend* backend) { return backend->runs(target); });
}

}  // namespace heddle::workbench
