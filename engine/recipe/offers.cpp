#include "engine/recipe/offers.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "engine/recipe/mesh.h"
#include "engine/recipe/schema.h"

namespace heddle::recipe {
namespace {

constexpr size_t kMaxOffers = 6;

std::vector<std::string> joined(const std::vector<std::vector<std::string>>& lists) {
  std::vector<std::string> all;
  for (const std::vector<std::string>& list : lists)
    all.insert(all.end(), list.begin(), list.end());
  return all;
}

/// Keys that have to fit the given one: a fault of one may be mended at another.
std::vector<std::string> fitting_keys(const std::string& key) {
  static const std::vector<std::vector<std::string>> all = {
      joined({keys_along(kRest.dim),
              keys_along(kWorld & ~kSamples),
              {"hardware.ranks"},
              keys_along(kSamples & ~kRest.dim),
              {"training.local_batch", "training.global_batch", "parallelism.microbatches",
               "training.steps", "data.seq_len", "model.max_seq_len", "schedule.warmup_steps",
               "model.n_heads", "model.n_kv_heads"}}),
      {"precision.float8", "precision.param"}};
  for (const std::vector<std::string>& keys : all)
    if (std::ranges::find(keys, key) != keys.end()) return keys;
  return {};
}

void set(Recipe& recipe, const std::string& key, const std::string& value) {
  const toml::parse_result parsed = parse_toml("value = " + value);
  find_field(key)->read(
      *parsed.table().get("value"), recipe,
      [](const toml::node&, const std::string&, const std::string&, const std::string&) {});
}

/// Whole numbers that may fit where `value` does not: its neighbours and doubles, and the divisors
/// and nearest multiples of the other numbers of the recipe.
std::vector<int64_t> candidates(const Recipe& recipe, const KeyInfo& info, int64_t value) {
  const Parallelism& p = recipe.parallelism;
  const auto at_least_one = [](int64_t n) { return std::max<int64_t>(1, n); };
  const int64_t others = at_least_one(Mesh(p).size(kWorld & ~kRest.dim));
  Degrees filled = p;
  int64_t& rest = filled.*kRest.degree;
  rest = at_least_one(rest > 0 ? rest : recipe.hardware.ranks / others);
  const std::vector<int64_t> numbers = {
      recipe.hardware.ranks,
      recipe.model.n_heads,
      recipe.model.n_kv_heads,
      recipe.model.dim,
      recipe.data.seq_len,
      recipe.training.local_batch,
      recipe.training.steps,
      recipe.model.max_seq_len,
      p.microbatches > 0 ? p.microbatches : p.pp,
      p.tp * p.cp,
      2 * p.cp,
      others,
      Mesh(filled).size(),
      at_least_one(recipe.training.local_batch * Mesh(filled).size(kSamples))};
  std::set<int64_t> all;
  for (int64_t step = 1; step <= 4; ++step) all.insert({value - step, value + step});
  for (int64_t power = 1; power <= 1 << 20; power *= 2) all.insert(power);
  for (const int64_t number : numbers) {
    if (number < 1) continue;
    all.insert({number, value / number * number, (value / number + 1) * number});
    for (int64_t part = 1; part * part <= number && part <= 512; ++part)
      if (number % part == 0) all.insert({part, number / part});
  }
  std::vector<int64_t> valid;
  for (const int64_t number : all) {
    const auto n = static_cast<double>(number);
    if (number > 0 && number != value && n >= info.low && n <= info.high) valid.push_back(number);
  }
  const double from = std::log(static_cast<double>(at_least_one(value)));
  std::ranges::sort(valid, {}, [&](int64_t number) {
    return std::abs(std::log(static_cast<double>(number)) - from);
  });
  return valid;
}

class Trial {
 public:
  Trial(const Parsed& parsed, const Fault& fault) : parsed_(parsed), fault_(fault) {
    // A fault that no number mends costs time at every try.
    parsed_.recipe.wrapping.mode = WrappingMode::automatic;
    parsed_.recipe.wrapping.buckets.clear();
    parsed_.recipe.overrides.clear();
    std::erase_if(parsed_.places,
                  [](const auto& place) { return place.first.find('[') != std::string::npos; });
    parsed_.faults.clear();
    before_ = resolve(parsed_).faults.size();
  }

  /// One key's, the nearest first, at most `most` on either side.
  std::vector<Offer> of(const std::string& key, size_t most) const {
    const KeyInfo* info = find_key(key);
    const Field* field = find_field(key);
    std::vector<Offer> found;
    if (info == nullptr || before_ == 0) return found;
    const std::string now = field->write(parsed_.recipe);
    if (!info->choices.empty() && key != "model.preset") {
      for (const std::string& word : info->choices) {
        const std::string value = info->type == "boolean" ? word : quote(word);
        if (value != now && helps(key, value)) found.push_back({key, value});
      }
      return found;
    }
    if (info->type != "integer") return found;
    const int64_t value = std::stoll(now);
    size_t below = 0, above = 0;
    for (const int64_t number : candidates(parsed_.recipe, *info, value)) {
      size_t& side = number < value ? below : above;
      if (below + above == 2 * most) break;
      if (side == most || !helps(key, std::to_string(number))) continue;
      ++side;
      found.push_back({key, std::to_string(number)});
    }
    return found;
  }

 private:
  bool helps(const std::string& key, const std::string& value) const {
    Parsed tried = parsed_;
    set(tried.recipe, key, value);
    const Parsed resolved = resolve(tried);
    return resolved.faults.size() < before_ &&
           std::ranges::none_of(resolved.faults, [&](const Fault& fault) {
             return fault.key == key || fault.key == fault_.key;
           });
  }

  Parsed parsed_;
  const Fault& fault_;
  size_t before_ = 0;
};

}  // namespace

std::vector<Offer> offers(const Parsed& parsed, const Fault& fault) {
  const Field* field = find_field(fault.key);
  if (field == nullptr || fault.key.starts_with("wrapping.buckets")) return {};
  const Trial trial(parsed, fault);
  std::vector<Offer> found = trial.of(fault.key, 2);
  for (const std::string& key : fitting_keys(fault.key)) {
    if (found.size() >= kMaxOffers) break;
    if (key == fault.key) continue;
    for (Offer& offer : trial.of(key, 1)) {
      found.push_back(std::move(offer));
      break;  // the nearest is enough
    }
  }
  return found;
}

}  // namespace heddle::recipe
