#include "engine/recipe/members.h"

#include <algorithm>
#include <map>

#include "engine/recipe/data_fields.h"
#include "engine/recipe/fields.h"
#include "engine/recipe/special_fields.h"

namespace heddle::recipe {
namespace {

KeyInfo member_info(std::string key, std::string type, std::string fallback, std::string valid,
                    std::string help, std::string unit = "") {
  KeyInfo info{std::move(key), std::move(type), std::move(fallback), std::move(valid)};
  info.label = leaf_of(info.key);
  info.help = std::move(help);
  info.unit = std::move(unit);
  return info;
}

KeyInfo of_choices(KeyInfo info, std::vector<std::string> words) {
  info.valid = choices(words);
  info.choices = std::move(words);
  return info;
}

std::vector<KeyInfo> override_members() {
  return {
      member_info("override.modules", "list", "", "names as in \"layers.0-15\"",
                  "The modules, or for lr and weight_decay parameters, that the exception is for."),
      of_choices(member_info("override.recompute", "string", "", "",
                             "What backward computes again in them, instead of recompute.mode."),
                 words(recompute_modes())),
      member_info("override.lr", "number", "", kNotNegative.words,
                  "Their highest learning rate of the schedule, instead of optimizer.lr."),
      member_info("override.weight_decay", "number", "", kNotNegative.words,
                  "Their decay, times the learning rate, instead of optimizer.weight_decay.")};
}

std::vector<KeyInfo> mix_members() {
  return {member_info("data.mix.text", "list", "", kTexts, "Files and folders of this text."),
          member_info("data.mix.weight", "number", number_text(MixPart().weight), kPositive.words,
                      "How often a sample is of this text, relative to the other weights.")};
}

std::vector<KeyInfo> rope_scaling_members() {
  const RopeScaling usual;
  const auto key = [](const char* leaf) { return std::string("model.rope_scaling.") + leaf; };
  return {
      of_choices(member_info(key("type"), "string", quote(word_of(rope_types(), usual.type)), "",
                             "The rule: Llama 3.1's, all frequencies alike (linear), or YaRN's."),
                 words(rope_types())),
      member_info(key("factor"), "number", number_text(usual.factor), kPositive.words,
                  "How many times as long sequences are as in pre-training."),
      member_info(
          key("low_freq_factor"), "number", number_text(usual.low_freq_factor), kPositive.words,
          "Type llama3: waves longer than original_max_position over this are scaled in full."),
      member_info(
          key("high_freq_factor"), "number", number_text(usual.high_freq_factor), kPositive.words,
          "Type llama3: waves shorter than original_max_position over this stay as they are."),
      member_info(key("original_max_position"), "integer",
                  std::to_string(usual.original_max_position), range_words(1, kMaxTokens),
                  "Types llama3 and yarn: the longest sequence of pre-training.", "tokens"),
      member_info(
          key("beta_fast"), "number", number_text(usual.beta_fast), kPositive.words,
          "Type yarn: frequencies that turn at least so often over original_max_position stay "
          "as they are.",
          "turns"),
      member_info(
          key("beta_slow"), "number", number_text(usual.beta_slow), kPositive.words,
          "Type yarn: frequencies that turn at most so often over original_max_position are "
          "scaled in full.",
          "turns"),
      member_info(key("attention_factor"), "number", number_text(usual.attention_factor),
                  kNotNegative.words,
                  "Type yarn: cosines and sines are multiplied by it; 0: by 0.1 ln(factor) + 1."),
      of_choices(
          member_info(key("truncate"), "boolean", usual.truncate ? "true" : "false", "",
                      "Type yarn: the range between beta_fast and beta_slow is rounded to whole "
                      "pairs."),
          {"true", "false"})};
}

}  // namespace

const std::vector<KeyInfo>& members_of(std::string_view key) {
  static const std::map<std::string, std::vector<KeyInfo>, std::less<>> all = {
      {"override", override_members()},
      {"data.mix", mix_members()},
      {"model.rope_scaling", rope_scaling_members()}};
  static const std::vector<KeyInfo> none;
  const auto found = all.find(key);
  return found == all.end() ? none : found->second;
}

std::vector<std::string> member_names(std::string_view key) {
  std::vector<std::string> names;
  for (const KeyInfo& info : members_of(key)) names.push_back(leaf_of(info.key));
  return names;
}

const KeyInfo* find_key_or_member(std::string_view key) {
  if (const KeyInfo* found = find_key(key)) return found;
  const std::vector<KeyInfo>& members = members_of(section_of(key));
  const auto found = std::ranges::find(members, key, &KeyInfo::key);
  return found == members.end() ? nullptr : &*found;
}

}  // namespace heddle::recipe
