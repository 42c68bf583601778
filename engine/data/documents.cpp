#include "engine/data/documents.h"

#include <array>

#include "base/read_json.h"
#include "engine/data/plain_json.h"

namespace heddle::data {
namespace {

// A document is a line: a book takes some megabytes.
constexpr Budget kDocumentBudget{.bytes = size_t{1} << 30};

/// The text in a line's field.
Result<std::string> text_of(std::string_view line, TextKind kind, const std::string& field) {
  if (auto text = plain_member(line, field)) return std::move(*text);
  const std::array<std::string_view, 1> names = {field};
  auto document = read_json_members(line, names, kDocumentBudget);
  // A row was made JSON of here: it is so but for what was in it.
  if (!document && kind == TextKind::parquet) return fail("\"{}\" is not UTF-8", field);
  if (!document) return fail(document);
  if (!document->is_object()) return fail("not a JSON object");
  const auto found = document->find(field);
  if (found == document->end()) return fail("it has no \"{}\"", field);
  if (found->is_null()) return fail("\"{}\" is null", field);
  if (!found->is_string()) return fail("\"{}\" is of type {}", field, found->type_name());
  return std::move(found->get_ref<std::string&>());
}

std::string complaint(const SourceFile& file, uint64_t line, const std::string& field,
                      const std::string& why) {
  if (file.format.kind == TextKind::parquet)
    return fmt::format("{}: row {}: {}", file.path, line, why);
  return fmt::format("{}:{}: not a JSON object with a text in \"{}\": {}", file.path, line, field,
                     why);
}

}  // namespace

Result<> for_each_document(const Chunk& chunk, const std::string& field, const DocumentSink& sink) {
  if (chunk.file->format.kind == TextKind::plain)
    return sink.take({chunk.bytes, chunk.begins, chunk.ends});
  std::string_view rest = chunk.bytes;
  for (uint64_t number = chunk.place.line; !rest.empty(); ++number) {
    const std::string_view line = rest.substr(0, rest.find('\n'));
    rest.remove_prefix(std::min(rest.size(), line.size() + 1));
    if (line.find_first_not_of(" \t\r") == std::string_view::npos) continue;
    const auto text = text_of(line, chunk.file->format.kind, field);
    if (!text) {
      sink.skip(complaint(*chunk.file, number, field, text.error().message));
      continue;
    }
    if (auto taken = sink.take({*text, true, true}); !taken) return taken;
  }
  return {};
}

}  // namespace heddle::data
