#include "workbench/host_links.h"

#include <algorithm>
#include <filesystem>
#include <future>
#include <map>
#include <nlohmann/json.hpp>

#include "base/clock.h"
#include "base/durable_file.h"
#include "base/excerpt.h"
#include "base/json_text.h"
#include "base/number_text.h"
#include "base/read_json.h"
#include "base/secret.h"
#include "remote/bundle.h"
#include "remote/deploy.h"
#include "workbench/paths.h"

namespace heddle::workbench {
namespace {

using nlohmann::json;

constexpr size_t kMaxKept = 10;  // measurements of a target

constexpr const char* kRemedy =
    "a run waits for its slowest link: look at that host's network card, cable and other users, or "
    "leave it out of the target";

/// Pairs of hosts in rounds, no host twice in a round.
std::vector<std::vector<std::pair<size_t, size_t>>> rounds_of(size_t hosts) {
  const size_t even = hosts + hosts % 2;
  std::vector<size_t> seats(even);
  for (size_t i = 0; i < even; ++i) seats[i] = i;
  std::vector<std::vector<std::pair<size_t, size_t>>> rounds;
  for (size_t round = 0; round + 1 < even; ++round) {
    rounds.emplace_back();
    for (size_t i = 0; i < even / 2; ++i) {
      const auto [low, high] = std::minmax(seats[i], seats[even - 1 - i]);
      if (high < hosts) rounds.back().emplace_back(low, high);
    }
    std::rotate(seats.begin() + 1, seats.end() - 1, seats.end());
  }
  return rounds;
}

/// An engine's command on a host: what it prints, or its own words.
Result<std::string> ask(remote::Node& node, std::vector<std::string> words, const Secret& secret) {
  const Result<remote::Completed> done = node.run({.argv = std::move(words),
                                                   .input = secret.hex() + "\n",
                                                   .deadline = std::chrono::seconds(60)});
  if (!done) return fail(done);
  if (done->exit_code == 0) return done->out;
  std::string said = excerpt(done->err, 300);
  while (said.ends_with('\n')) said.pop_back();
  return fail("{}", said.empty() ? fmt::format("exit code {}", done->exit_code) : said);
}

class Measurement {
 public:
  Measurement(const remote::Target& target, const Nodes& nodes,
              const std::vector<std::string>& engines, const Secret& secret)
      : target_(target), nodes_(nodes), engines_(engines), secret_(secret) {}

  /// Has every host but the last listen: a pair's later host is called.
  std::vector<std::string> listen() {
    listeners_.resize(nodes_.size());
    std::vector<std::string> faults;
    std::vector<std::future<Result<links::Listener>>> asked;
    for (size_t host = 1; host < nodes_.size(); ++host)
      asked.push_back(std::async(std::launch::async, [this, host] { return listen_on(host); }));
    for (size_t host = 1; host < nodes_.size(); ++host) {
      const Result<links::Listener> listener = asked[host - 1].get();
      if (listener) {
        listeners_[host] = *listener;
      } else {
        faults.push_back(fmt::format("{} cannot listen for the others: {}", name(host),
                                     listener.error().message));
      }
    }
    return faults;
  }

  Result<links::Link> measure(size_t from, size_t to) const {
    const links::Listener& listener = listeners_[to];
    if (listener.port == 0) return fail("{} does not listen", name(to));
    const auto printed = ask(
        *nodes_[from],
        {engines_[from], "links", "--to", listener.address, "--port", std::to_string(listener.port),
         "--host", std::to_string(from), "--answerer", std::to_string(to)},
        secret_);
    return printed ? links::link_from(*printed) : fail(printed);
  }

  std::string fault(size_t from, size_t to, const std::string& why) const {
    return fmt::format("{} does not reach {} at {}: {}", name(from), name(to),
                       listeners_[to].address, why);
  }

  bool listens(size_t host) const { return listeners_[host].port != 0; }

 private:
  const std::string& name(size_t host) const { return target_.hosts[host].name; }

  Result<links::Listener> listen_on(size_t host) const {
    std::vector<std::string> words{engines_[host],
                                   "links",
                                   "--serve",
                                   "--toward",
                                   target_.hosts[0].address,
                                   "--host",
                                   std::to_string(host),
                                   "--guests",
                                   std::to_string(host)};
    if (target_.public_addresses) words.emplace_back("--public");
    const auto printed = ask(*nodes_[host], std::move(words), secret_);
    return printed ? links::listener_from(*printed) : fail(printed);
  }

  const remote::Target& target_;
  const Nodes& nodes_;
  const std::vector<std::string>& engines_;
  const Secret secret_;
  std::vector<links::Listener> listeners_;
};

/// The hosts of a target, as kept measurements name them.
json hosts_of(const remote::Target& target) {
  json hosts = json::array();
  for (const remote::Host& host : target.hosts)
    hosts.push_back(fmt::format("{}:{}", host.address, host.port));
  return hosts;
}

/// All targets' kept measurements; empty where they cannot be read: they are measured again.
json kept_links() {
  Result<json> read = read_json_file(links_file());
  if (!read || !read->is_object() || read->value("version", 0) != 1) return json::object();
  return std::move(*read);
}

/// A target's kept measurements, the last one at the end.
std::vector<MeasuredLinks> history_of(const remote::Target& target) {
  std::vector<MeasuredLinks> history;
  try {
    const json kept = kept_links();
    if (!kept.contains("targets") || !kept["targets"].contains(target.name)) return history;
    const json& entry = kept["targets"][target.name];
    if (entry.at("hosts") != hosts_of(target)) return history;
    for (const json& each : entry.at("measured")) {
      MeasuredLinks measured{.time = each.at("time")};
      for (const json& pair : each.at("pairs")) {
        const links::Pair read{pair.at("from"), pair.at("to"), links::link_from_json(pair)};
        if (read.from < target.hosts.size() && read.to < target.hosts.size())
          measured.pairs.push_back(read);
      }
      history.push_back(std::move(measured));
    }
  } catch (const json::exception&) {
    history.clear();
  }
  return history;
}

double median(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::ranges::nth_element(values, middle);
  return *middle;
}

/// The median of each pair.
std::vector<links::Pair> usual_links(const std::vector<MeasuredLinks>& history) {
  std::map<std::pair<size_t, size_t>, std::array<std::vector<double>, 3>> all;
  for (const MeasuredLinks& measured : history)
    for (const links::Pair& pair : measured.pairs) {
      auto& values = all[{pair.from, pair.to}];
      values[0].push_back(pair.link.seconds);
      values[1].push_back(pair.link.out);
      values[2].push_back(pair.link.back);
    }
  std::vector<links::Pair> usual;
  for (const auto& [pair, values] : all)
    usual.push_back(
        {pair.first, pair.second, {median(values[0]), median(values[1]), median(values[2])}});
  return usual;
}

std::vector<std::string> names_of(const remote::Target& target) {
  std::vector<std::string> names;
  for (const remote::Host& host : target.hosts) names.push_back(host.name);
  return names;
}

}  // namespace

Result<MeasuredLinks> measure_links(const remote::Target& target, const Nodes& nodes,
                                    const std::vector<std::string>& engines,
                                    const std::function<Result<>(const std::string&)>& tell) {
  const Result<Secret> secret = Secret::make();
  if (!secret) return fail(secret);
  MeasuredLinks measured{.time = unix_now()};
  Measurement measurement(target, nodes, engines, *secret);
  if (Result<> told = tell("measuring the network between the hosts"); !told) return fail(told);
  measured.faults = measurement.listen();
  for (const auto& round : rounds_of(nodes.size())) {
    std::vector<std::future<Result<links::Link>>> asked;
    for (const auto& [from, to] : round)
      asked.push_back(std::async(std::launch::async, [&measurement, from = from, to = to] {
        return measurement.measure(from, to);
      }));
    for (size_t i = 0; i < round.size(); ++i) {
      const auto [from, to] = round[i];
      const Result<links::Link> link = asked[i].get();
      if (link)
        measured.pairs.push_back({from, to, *link});
      else if (measurement.listens(to))
        measured.faults.push_back(measurement.fault(from, to, link.error().message));
    }
    if (Result<> told = tell("measuring the network between the hosts"); !told) return fail(told);
  }
  return measured;
}

Result<std::vector<std::string>> engines_there(const remote::Target& target, const Nodes& nodes) {
  std::vector<std::string> engines;
  for (const auto& node : nodes) {
    const Result<std::string> folder = node->expand(target.root);
    if (!folder) return fail(folder);
    const auto there = remote::look_for_engine(*node, target.root, engine_path());
    if (!there) return fail(there);
    if (there->id.empty()) return std::vector<std::string>{};
    engines.push_back(fmt::format("{}/engines/{}/heddle-engine", *folder, there->id));
  }
  return engines;
}

std::string links_file() { return cache_folder() + "/links.json"; }

std::vector<links::Slowness> judge_links(const remote::Target& target,
                                         const MeasuredLinks& measured) {
  return links::judge_links(names_of(target), measured.pairs, usual_links(history_of(target)));
}

Result<> keep_links(const remote::Target& target, const MeasuredLinks& measured) {
  std::vector<MeasuredLinks> history = history_of(target);
  history.push_back(measured);
  if (history.size() > kMaxKept) history.erase(history.begin());
  json all = json::array();
  for (const MeasuredLinks& each : history) {
    json pairs = json::array();
    for (const links::Pair& pair : each.pairs) {
      json object = links::to_json(pair.link);
      object["from"] = pair.from;
      object["to"] = pair.to;
      pairs.push_back(std::move(object));
    }
    all.push_back({{"time", each.time}, {"pairs", std::move(pairs)}});
  }
  json kept = kept_links();
  kept["version"] = 1;
  kept["targets"][target.name] = {{"hosts", hosts_of(target)}, {"measured", std::move(all)}};
  const std::filesystem::path file = links_file();
  std::error_code error;
  std::filesystem::create_directories(file.parent_path(), error);
  if (error) return fail("{}: {}", file.string(), error.message());
  return write_atomically(file, json_text(kept) + "\n");
}

std::vector<links::Slowness> kept_slowness(const remote::Target& target) {
  std::vector<MeasuredLinks> history = history_of(target);
  if (history.empty()) return {};
  const MeasuredLinks last = std::move(history.back());
  history.pop_back();
  return links::judge_links(names_of(target), last.pairs, usual_links(history));
}

probe::Check check_of(const MeasuredLinks& measured, const std::vector<links::Slowness>& slow) {
  const auto joined = [](const auto& words, const auto& text) {
    std::string all;
    for (const auto& word : words) all += (all.empty() ? "" : "; ") + text(word);
    return all;
  };
  if (!measured.faults.empty())
    return {"network", probe::Status::fail,
            joined(measured.faults, [](const std::string& fault) { return fault; }),
            "open the hosts' firewalls to one another for all TCP ports, or name them by addresses "
            "of the network that they share"};
  if (!slow.empty())
    return {"network", probe::Status::warn,
            joined(slow, [](const links::Slowness& each) { return each.what; }), kRemedy};
  double rate = 1e300, word = 0;
  for (const links::Pair& pair : measured.pairs) {
    rate = std::min(rate, pair.link.bytes_per_second());
    word = std::max(word, pair.link.seconds);
  }
  return {"network", probe::Status::pass,
          fmt::format("between any two hosts {}/s or more, {:.2g} ms or less there and back",
                      bytes_text(rate), 1e3 * word),
          ""};
}

}  // namespace heddle::workbench
