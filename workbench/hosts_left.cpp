#include "workbench/hosts_left.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <numeric>

#include "remote/connect.h"
#include "workbench/fewer_hosts.h"
#include "workbench/place.h"
#include "workbench/targets.h"

namespace heddle::workbench {
namespace {

/// A spare needs the checkpoint, which is in the run's directory.
Result<> check_spare(const remote::Target& target, const remote::Host& spare,
                     const std::string& run_dir) {
  remote::ConnectOptions options;
  options.background = true;
  const auto node = remote::connect(target, spare, options);
  if (!node) return fail("the spare {} is not used: {}", spare.name, node.error().message);
  const auto there = (*node)->stat(run_dir);
  if (!there) return fail("the spare {} is not used: {}", spare.name, there.error().message);
  if (!*there)
    return fail("the spare {} is not used: it does not see {}, so it does not share the root",
                spare.name, run_dir);
  return {};
}

}  // namespace

Result<HostsLeft> find_hosts_left(storage::Reader& reader, const std::vector<std::string>& without,
                                  const storage::RunDetail& run, const recipe::Recipe& recipe) {
  const auto place = place_from_json(run.hosts);
  if (!place) return fail("{}: {}", run.summary.name, place.error().message);
  if (place->target.job)
    return fail("{} is a job of a batch system, which chooses the nodes itself", run.summary.name);
  if (place->shares.empty()) return fail("{} was never started", run.summary.name);
  const remote::Target target = with_keys_and_spares_of_now(reader, place->target);
  std::vector<std::string> names;
  for (const remote::Host& host : target.hosts) names.push_back(host.name);
  for (const std::string& name : without)
    if (std::ranges::find(names, name) == names.end())
      return fail("{} is no host of {}; valid: {}", name, run.summary.name, fmt::join(names, ", "));
  HostsLeft found;
  for (size_t host = 0; host < names.size(); ++host)
    if (std::ranges::find(without, names[host]) == without.end()) found.left.push_back(host);
  if (found.left.empty()) return fail("without {} no host is left", fmt::join(without, ", "));

  std::vector<remote::Host> hosts;
  for (const size_t host : found.left) hosts.push_back(target.hosts[host]);
  for (const remote::Host& spare : target.spares) {
    if (hosts.size() == names.size()) break;
    const std::string run_dir = place->shares[found.left.front()].run_dir();
    if (const Result<> good = check_spare(target, spare, run_dir); good)
      hosts.push_back(spare);
    else
      found.notes.push_back(good.error().message);
  }
  std::vector<size_t> numbers(hosts.size());
  std::iota(numbers.begin(), numbers.end(), size_t{0});
  auto fewer = fit_fewer_hosts(recipe, names.size(), std::move(numbers));
  if (!fewer) return fail(fewer);
  hosts.resize(fewer->hosts.size());
  found.sets = std::move(fewer->sets);
  const size_t own = std::min(found.left.size(), hosts.size());
  found.left.resize(own);
  std::vector<std::string> words;
  for (size_t i = 0; i < hosts.size(); ++i)
    words.push_back(hosts[i].name + (i < own ? "" : " (a spare)"));
  found.words = fmt::format("without {}, on {}", fmt::join(without, ", "), fmt::join(words, ", "));
  found.hosts = std::move(hosts);
  return found;
}

remote::Target with_hosts(remote::Target target, std::vector<remote::Host> hosts) {
  std::erase_if(target.spares, [&](const remote::Host& spare) {
    return std::ranges::find(hosts, spare.name, &remote::Host::name) != hosts.end();
  });
  target.hosts = std::move(hosts);
  return target;
}

}  // namespace heddle::workbench
