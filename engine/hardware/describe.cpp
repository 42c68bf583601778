#include <fmt/format.h>

#include <algorithm>

#include "engine/hardware/entry.h"
#include "engine/hardware/fields.h"

namespace heddle::hardware {
namespace {

// Sources with the origin that numbers have from them, each once, in the order of the keys.
class Sources {
 public:
  void add(Origin origin, const std::string& source) {
    if (source.empty()) return;
    const std::pair each(origin, source);
    if (std::ranges::find(all_, each) == all_.end()) all_.push_back(each);
  }

  template <typename T>
  void add_all(const T& entry) {
    for (const auto& field : numbers(&entry))
      add((entry.*field.member).origin, (entry.*field.member).source);
    for (const auto& field : by_protocol(&entry))
      add((entry.*field.member).origin, (entry.*field.member).source);
  }

  std::vector<std::string> lines() {
    std::ranges::stable_sort(all_, {}, [](const auto& each) { return each.first; });
    std::vector<std::string> lines;
    for (const auto& [origin, source] : all_)
      lines.push_back(fmt::format("{}: {}", name_of(origin), source));
    return lines;
  }

 private:
  std::vector<std::pair<Origin, std::string>> all_;
};

}  // namespace

std::string words(const Entry& entry) {
  return fmt::format("{} × {}, {}; {}", entry.node.devices, entry.device.title, entry.node.title,
                     entry.network.title);
}

std::vector<std::string> sources(const Entry& entry) {
  Sources all;
  all.add_all(entry.device);
  all.add_all(entry.node);
  for (const RatesField& field : measured_rates())
    for (const LinkRate& rate : entry.node.*field.member)
      all.add(rate.gb_per_s.origin, rate.gb_per_s.source);
  all.add_all(entry.network);
  return all.lines();
}

std::vector<std::string> sources(const Program& program) {
  Sources all;
  all.add_all(program);
  return all.lines();
}

}  // namespace heddle::hardware
