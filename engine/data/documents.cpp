#include "engine/data/documents.h"

#include <array>

#include "base/read_json.h"
#include "engine/data/chat.h"
#include "engine/data/plain_json.h"
#include "engine/data/text_encoding.h"

namespace heddle::data {
namespace {

// Members that are not asked for take no memory, however deep they are.
constexpr Budget kDocumentBudget{.bytes = kMaxDocument, .depth = 1'000'000};

/// The text in a line's field, however the line is written.
Result<std::string> parsed_text(std::string_view line, TextKind kind, const std::string& field) {
  const std::string json = without_pythons_numbers(line);
  if (const auto member = chat_member(json, field)) return fail("{}", chat_words(*member));
  const std::array<std::string_view, 1> names = {field};
  auto document = read_json_members(json, names, kDocumentBudget);
  // A row was made JSON of here: it is so but for what was in it.
  if (!document && kind == TextKind::parquet) return fail("\"{}\" is not UTF-8", field);
  const auto no_text = [&](std::string_view why) {
    return fail("not a JSON object with a text in \"{}\": {}", field, why);
  };
  if (!document) return no_text(document.error().message);
  if (!document->is_object()) return no_text("not a JSON object");
  const auto found = document->find(field);
  if (found == document->end()) return no_text(fmt::format("it has no \"{}\"", field));
  if (found->is_null() && kind == TextKind::parquet) return fail("\"{}\" is null", field);
  if (found->is_null()) return no_text(fmt::format("\"{}\" is null", field));
  if (!found->is_string())
    return no_text(fmt::format("\"{}\" is of type {}", field, found->type_name()));
  return std::move(found->get_ref<std::string&>());
}

Result<std::string> text_of_line(std::string_view line, TextKind kind, const std::string& field) {
  auto plain = plain_member(line, field);
  auto text = plain ? Result<std::string>(std::move(*plain)) : parsed_text(line, kind, field);
  if (text && begins_as_chat(*text)) return fail("{}", chat_words(field));
  return text;
}

std::string complaint(const SourceFile& file, uint64_t line, const std::string& why) {
  if (file.format.kind == TextKind::parquet)
    return fmt::format("{}: row {}: {}", file.path, line, why);
  return fmt::format("{}:{}: {}", file.path, line, why);
}

/// Refuses plain text that is another encoding or a chat, by the start of the file.
Result<> check_plain(const Chunk& chunk) {
  if (!chunk.begins) return {};
  const std::string fault = encoding_fault(chunk.bytes, TextKind::plain);
  if (!fault.empty()) return fail("{}: {}", chunk.file->path, fault);
  if (begins_as_chat(chunk.bytes)) return fail("{}: {}", chunk.file->path, chat_words(""));
  return {};
}

}  // namespace

Result<> for_each_document(const Chunk& chunk, const std::string& field, const DocumentSink& sink) {
  if (chunk.file->format.kind == TextKind::plain) {
    if (auto plain = check_plain(chunk); !plain) return plain;
    auto taken = sink.take({chunk.bytes, chunk.begins, chunk.ends});
    return taken ? std::move(taken) : fail("{}: {}", chunk.file->path, taken.error().message);
  }
  std::string_view rest = chunk.bytes;
  for (uint64_t number = chunk.place.line; !rest.empty(); ++number) {
    const std::string_view line = rest.substr(0, rest.find('\n'));
    rest.remove_prefix(std::min(rest.size(), line.size() + 1));
    if (line.find_first_not_of(" \t\r") == std::string_view::npos) continue;
    const auto text = text_of_line(line, chunk.file->format.kind, field);
    if (!text) {
      sink.skip(complaint(*chunk.file, number, text.error().message));
      continue;
    }
    if (auto taken = sink.take({*text, true, true}); !taken)
      sink.skip(complaint(*chunk.file, number, taken.error().message));
  }
  return {};
}

}  // namespace heddle::data
