#include "engine/data/tokenizer_steps.h"

#include <map>
#include <nlohmann/json.hpp>

#include "base/json_text.h"
#include "engine/data/oniguruma.h"
#include "engine/data/tokenizer_json.h"

namespace heddle::data {
namespace {

using nlohmann::json;

// GPT-2's expression: what ByteLevel splits by when its use_regex is set.
constexpr std::string_view kGpt2Expression =
    R"('s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+)";

Result<Regex> expression_of(const json& part, std::string_view type) {
  const json& pattern = member(part, "pattern");
  const json& regex = member(pattern, "Regex");
  const json& literal = member(pattern, "String");
  if (regex.is_string()) return Regex::compile(regex.get<std::string>());
  if (literal.is_string()) return Regex::literal(literal.get<std::string>());
  return fail("{}: pattern must be {{\"Regex\": …}} or {{\"String\": …}}", type);
}

constexpr size_t kMaxSteps = 64;
constexpr std::string_view kWhiteSpace = R"(\p{White_Space})";
constexpr std::string_view kPunctuation = R"([\p{P}$+<=>^`|~])";

Result<> add_normalizer(const json& part, Normalizer& steps) {
  if (steps.steps() > kMaxSteps) return fail("more than {} steps", kMaxSteps);
  static const std::map<std::string, Form, std::less<>> kForms = {
      {"NFC", Form::nfc}, {"NFD", Form::nfd}, {"NFKC", Form::nfkc}, {"NFKD", Form::nfkd}};
  const std::string type = type_of(part);
  if (type == "Sequence") {
    for (const json& inner : member(part, "normalizers"))
      if (auto done = add_normalizer(inner, steps); !done) return done;
    return {};
  }
  if (const auto form = kForms.find(type); form != kForms.end()) {
    steps.add_form(form->second);
    return {};
  }
  if (type == "Prepend") {
    steps.add_prefix(text_of(part, "prepend"));
    return {};
  }
  if (type == "Strip") {
    steps.add_strip(flag(part, "strip_left", true), flag(part, "strip_right", true));
    return {};
  }
  if (type == "Lowercase") {
    steps.add_lowercase();
    return {};
  }
  if (type == "StripAccents") {
    steps.add_strip_accents();
    return {};
  }
  if (type == "ByteLevel") {
    steps.add_spelling();
    return {};
  }
  if (type == "Replace") {
    auto pattern = expression_of(part, type);
    if (!pattern) return fail(pattern);
    steps.add_replacement(std::move(*pattern), text_of(part, "content"));
    return {};
  }
  return fail(
      "type \"{}\" is not supported; valid: null, NFC, NFD, NFKC, NFKD, Lowercase, StripAccents, "
      "Prepend, Replace, Strip, ByteLevel, Sequence",
      type);
}

Result<> add_split(Result<Regex>&& regex, PreTokenizer& steps,
                   Behavior behavior = Behavior::isolated, bool invert = false) {
  if (!regex) return fail(regex);
  steps.add_split(std::move(*regex), behavior, invert);
  return {};
}

Result<Behavior> behavior_of(const json& part, std::string_view fallback) {
  static const std::map<std::string, Behavior, std::less<>> kBehaviors = {
      {"Isolated", Behavior::isolated},
      {"Removed", Behavior::removed},
      {"MergedWithPrevious", Behavior::merged_with_previous},
      {"MergedWithNext", Behavior::merged_with_next},
      {"Contiguous", Behavior::contiguous}};
  const json& behavior = member(part, "behavior");
  const std::string name = behavior.is_null() ? std::string(fallback) : text_of(part, "behavior");
  const auto known = kBehaviors.find(name);
  if (known != kBehaviors.end()) return known->second;
  return fail(
      "{}: behavior {} is not supported; valid: Isolated, Removed, MergedWithPrevious, "
      "MergedWithNext, Contiguous",
      type_of(part), json_text(behavior));
}

Result<> check_replacement(const json& metaspace) {
  const json& replacement = member(metaspace, "replacement");
  if (replacement.is_null() || replacement == kMetaspace) return {};
  return fail("Metaspace: replacement {} is not supported; valid: \"{}\"", json_text(replacement),
              kMetaspace);
}

/// How a Metaspace prefixes texts; before tokenizers 0.15 a flag said it.
Result<PrefixSpace> prefix_of(const json& metaspace) {
  const json& scheme = member(metaspace, "prepend_scheme");
  if (scheme.is_null())
    return flag(metaspace, "add_prefix_space", true) ? PrefixSpace::always : PrefixSpace::never;
  if (scheme == "always") return PrefixSpace::always;
  if (scheme == "first") return PrefixSpace::first;
  if (scheme == "never") return PrefixSpace::never;
  return fail("Metaspace: prepend_scheme {} is not supported; valid: always, first, never",
              json_text(scheme));
}

Result<> add_metaspace(const json& part, PreTokenizer& steps) {
  if (auto known = check_replacement(part); !known) return known;
  const auto prefix = prefix_of(part);
  if (!prefix) return fail(prefix);
  steps.add_metaspace(*prefix, flag(part, "split", true));
  return {};
}

/// A pre-tokenizer's steps. ByteLevel spells bytes; where it comes last, Bpe works on the bytes
/// themselves, which is faster.
class StepReader {
 public:
  explicit StepReader(TokenizerFile& file) : file_(file), steps_(file.pre_tokenizer) {}

  Result<> add(const json& part) {
    const std::string type = type_of(part);
    if (type == "Sequence") {
      for (const json& inner : member(part, "pretokenizers"))
        if (auto done = add(inner); !done) return done;
      return {};
    }
    if (steps_.steps() > kMaxSteps) return fail("more than {} steps", kMaxSteps);
    if (ends_in_bytes_) steps_.add_spelling();
    ends_in_bytes_ = false;
    if (type == "ByteLevel") {
      ends_in_bytes_ = file_.spells_bytes = true;
      if (flag(part, "add_prefix_space", true)) steps_.add_prefix_space();
      if (!flag(part, "use_regex", true)) return {};
      return add_split(Regex::compile(kGpt2Expression), steps_);
    }
    return add_plain(part, type);
  }

  bool ends_in_bytes() const { return ends_in_bytes_; }

 private:
  Result<> add_plain(const json& part, const std::string& type) {
    if (type == "Metaspace") return add_metaspace(part, steps_);
    if (type == "Split") {
      const auto behavior = behavior_of(part, "");
      if (!behavior) return fail(behavior);
      return add_split(expression_of(part, type), steps_, *behavior, flag(part, "invert", false));
    }
    if (type == "Digits") {
      const bool single = flag(part, "individual_digits", false);
      return add_split(Regex::compile(single ? R"(\p{N})" : R"(\p{N}+)"), steps_);
    }
    if (type == "Punctuation") {
      const auto behavior = behavior_of(part, "Isolated");
      if (!behavior) return fail(behavior);
      return add_split(Regex::compile(kPunctuation), steps_, *behavior);
    }
    if (type == "Whitespace")
      return add_split(Regex::compile(fmt::format("[{0}]+|[^{0}\\s]+", kRustWord)), steps_,
                       Behavior::removed, true);
    if (type == "WhitespaceSplit")
      return add_split(Regex::compile(kWhiteSpace), steps_, Behavior::removed);
    if (type == "BertPreTokenizer") {
      if (auto done = add_split(Regex::compile(kWhiteSpace), steps_, Behavior::removed); !done)
        return done;
      return add_split(Regex::compile(kPunctuation), steps_);
    }
    if (type == "CharDelimiterSplit")
      return add_split(Regex::literal(text_of(part, "delimiter")), steps_, Behavior::removed);
    return fail(
        "type \"{}\" is not supported; valid: Sequence, Split, Digits, Punctuation, Whitespace, "
        "WhitespaceSplit, BertPreTokenizer, CharDelimiterSplit, Metaspace, ByteLevel",
        type);
  }

  TokenizerFile& file_;
  PreTokenizer& steps_;
  bool ends_in_bytes_ = false;
};

/// Decoding of SentencePiece's alphabet, beyond spaces and bytes.
Result<> add_decoder(const json& part, LeadingSpaces& leading) {
  const std::string type = type_of(part);
  if (type == "Sequence") {
    for (const json& inner : member(part, "decoders"))
      if (auto done = add_decoder(inner, leading); !done) return done;
    return {};
  }
  if (part.is_null() || type == "ByteFallback" || type == "Fuse" || type == "BPEDecoder" ||
      type == "ByteLevel")
    return {};
  if (type == "Metaspace") {
    const auto prefix = prefix_of(part);
    if (!prefix) return fail(prefix);
    leading.all_of_first_token = *prefix != PrefixSpace::never;
    return check_replacement(part);
  }
  if (type == "Replace") {
    const bool usual =
        text_of(member(part, "pattern"), "String") == kMetaspace && text_of(part, "content") == " ";
    return usual ? Result<>() : fail("Replace: valid: \"{}\" by a space", kMetaspace);
  }
  if (type == "Strip") {
    const json &start = member(part, "start"), &stop = member(part, "stop");
    if (text_of(part, "content") != " " || !start.is_number_unsigned() || stop != 0)
      return fail("Strip: {} is not supported; valid: spaces at the start", json_text(part));
    leading.most += start.get<size_t>();
    return {};
  }
  return fail(
      "type \"{}\" is not supported; valid: null, Metaspace, BPEDecoder, or a Sequence of Replace, "
      "ByteFallback, Fuse, Strip",
      type);
}

Result<> within(const char* part, Result<> done) {
  return done ? std::move(done) : fail("{}: {}", part, done.error().message);
}

}  // namespace

Result<> read_steps(const json& root, TokenizerFile& file) {
  const json& normalizer = member(root, "normalizer");
  if (!normalizer.is_null())
    if (auto done = within("normalizer", add_normalizer(normalizer, file.normalizer)); !done)
      return done;
  file.spells_bytes = file.normalizer.spells_bytes();
  StepReader steps(file);
  const json& pre_tokenizer = member(root, "pre_tokenizer");
  if (!pre_tokenizer.is_null())
    if (auto done = within("pre_tokenizer", steps.add(pre_tokenizer)); !done) return done;
  file.symbols.unit = steps.ends_in_bytes() ? Unit::bytes : Unit::characters;
  if (file.spells_bytes) return {};
  file.joins_by_spaces = member(root, "decoder").is_null();
  return within("decoder", add_decoder(member(root, "decoder"), file.leading_spaces));
}

}  // namespace heddle::data
