// A key of libssh, freed by its owner.
#pragma once

#include <libssh/libssh.h>

#include <memory>

namespace heddle::remote {

struct FreeKey {
  void operator()(ssh_key key) const { ssh_key_free(key); }
};
using Key = std::unique_ptr<ssh_key_struct, FreeKey>;

}  // namespace heddle::remote
