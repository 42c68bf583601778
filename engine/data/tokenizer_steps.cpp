#include "engine/data/tokenizer_steps.h"

#include <map>
#include <nlohmann/json.hpp>

#include "base/json_text.h"
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

Result<> add_normalizer(const json& part, Normalizer& steps) {
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
  if (type == "Replace") {
    auto pattern = expression_of(part, type);
    if (!pattern) return fail(pattern);
    steps.add_replacement(std::move(*pattern), text_of(part, "content"));
    return {};
  }
  return fail(
      "type \"{}\" is not supported; valid: null, NFC, NFD, NFKC, NFKD, Prepend, Replace, Strip, "
      "Sequence",
      type);
}

Result<> add_split(Result<Regex>&& regex, PreTokenizer& steps) {
  if (!regex) return fail(regex);
  steps.add_split(std::move(*regex));
  return {};
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

/// Adds a pre-tokenizer's steps. `byte_level` is set by ByteLevel, which comes last.
Result<> add_steps(const json& part, PreTokenizer& steps, bool& byte_level) {
  const std::string type = type_of(part);
  if (byte_level) return fail("ByteLevel must come last, but \"{}\" follows it", type);
  if (type == "Sequence") {
    for (const json& inner : member(part, "pretokenizers"))
      if (auto done = add_steps(inner, steps, byte_level); !done) return done;
    return {};
  }
  if (type == "Split") {
    const json& behavior = member(part, "behavior");
    if (behavior != "Isolated")
      return fail("Split: behavior {} is not supported; valid: \"Isolated\"", json_text(behavior));
    return add_split(expression_of(part, type), steps);
  }
  if (type == "Digits") {
    return add_split(
        Regex::compile(flag(part, "individual_digits", false) ? R"(\p{N})" : R"(\p{N}+)"), steps);
  }
  if (type == "ByteLevel") {
    byte_level = true;
    if (flag(part, "add_prefix_space", true)) steps.add_prefix_space();
    if (!flag(part, "use_regex", true)) return {};
    return add_split(Regex::compile(kGpt2Expression), steps);
  }
  return fail("type \"{}\" is not supported; valid: Sequence, Split, Digits, ByteLevel{}", type,
              type == "Metaspace" ? ", or model.byte_fallback = true beside it" : "");
}

/// What decoding does to the tokens of SentencePiece's alphabet, beyond spaces and bytes.
Result<> add_decoder(const json& part, LeadingSpaces& leading) {
  const std::string type = type_of(part);
  if (type == "Sequence") {
    for (const json& inner : member(part, "decoders"))
      if (auto done = add_decoder(inner, leading); !done) return done;
    return {};
  }
  if (type == "ByteFallback" || type == "Fuse") return {};
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
      "type \"{}\" is not supported; valid: Metaspace, or a Sequence of Replace, ByteFallback, "
      "Fuse, Strip",
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
  const json& pre_tokenizer = member(root, "pre_tokenizer");
  if (flag(member(root, "model"), "byte_fallback", false)) {
    file.alphabet = Alphabet::characters;
    if (!pre_tokenizer.is_null()) {
      if (type_of(pre_tokenizer) != "Metaspace")
        return fail(
            "pre_tokenizer: type \"{}\" is not supported with byte fallback; valid: null, "
            "Metaspace",
            type_of(pre_tokenizer));
      if (auto done = within("pre_tokenizer", add_metaspace(pre_tokenizer, file.pre_tokenizer));
          !done)
        return done;
    }
    return within("decoder", add_decoder(member(root, "decoder"), file.leading_spaces));
  }
  bool byte_level = false;
  if (!pre_tokenizer.is_null())
    if (auto done =
            within("pre_tokenizer", add_steps(pre_tokenizer, file.pre_tokenizer, byte_level));
        !done)
      return done;
  if (!byte_level)
    return fail(
        "BPE over characters that loses those it does not have; valid: a pre_tokenizer with "
        "ByteLevel, or model.byte_fallback = true (SentencePiece's BPE, as of Llama 2)");
  return {};
}

}  // namespace heddle::data
