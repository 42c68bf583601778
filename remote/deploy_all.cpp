#include "remote/deploy_all.h"

#include "remote/bring_to_all.h"

namespace heddle::remote {

Result<std::vector<Deployed>> deploy_all(const std::vector<Node*>& nodes, const std::string& root,
                                         const std::string& engine, const Progress& progress,
                                         Devices devices) {
  // Its files' hashes are known afterwards.
  if (const Result<Bundle> bundle = bundle_of(engine, devices); !bundle) return fail(bundle);
  Receivers receivers{nodes, root, std::vector<char>(nodes.size(), 1)};
  std::vector<char> are_there(nodes.size());
  const Bring look = [&](size_t i, const Progress&) -> Result<> {
    const Result<bool> there = is_deployed(*nodes[i], root, engine, devices);
    if (!there) return fail(there);
    are_there[i] = *there;
    return {};
  };
  if (const Result<> looked = bring_to_all(receivers, look, {}); !looked) return fail(looked);
  receivers.have_it = are_there;
  std::vector<Deployed> deployed(nodes.size());
  const Bring bring = [&](size_t i, const Progress& of_node) -> Result<> {
    Result<Deployed> done = deploy(*nodes[i], root, engine, of_node, devices);
    if (!done) return fail(done);
    deployed[i] = std::move(*done);
    return {};
  };
  if (const Result<> brought = bring_to_all(receivers, bring, progress); !brought)
    return fail(brought);
  return deployed;
}

}  // namespace heddle::remote
