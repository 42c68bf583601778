#include "engine/data/chunk_tokens.h"

#include <algorithm>
#include <filesystem>

#include "engine/data/documents.h"

namespace heddle::data {

Result<ChunkTokens> tokens_of(const Chunk& chunk, const DocumentChoice& choice,
                              Tokenizer& tokenizer) {
  ChunkTokens tokens;
  tokens.place = chunk.place;
  std::vector<int32_t>& ids = tokens.ids;
  const bool plain = chunk.file->format.kind == TextKind::plain;
  const std::string name = std::filesystem::path(chunk.file->path).filename();
  const auto take = [&](const DocumentPart& part) -> Result<> {
    if (!choice.takes(plain ? name : part.text)) return {};
    auto encoded = tokenizer.encode(part.text, !part.begins);
    if (!encoded) return fail(encoded);
    if (part.begins) {
      ++tokens.documents;
      tokens.begins.push_back(ids.size());
      if (tokenizer.bos_id()) encoded->insert(encoded->begin(), *tokenizer.bos_id());
    }
    if (part.ends && tokenizer.eos_id()) encoded->push_back(*tokenizer.eos_id());
    if (ids.empty()) {
      ids = std::move(*encoded);  // a long text's are not in memory twice
    } else {
      ids.insert(ids.end(), encoded->begin(), encoded->end());
    }
    tokens.goes_on = !part.ends;
    tokens.bytes += static_cast<int64_t>(part.text.size());
    return {};
  };
  const auto skip = [&](std::string complaint) {
    tokens.complaints.push_back(std::move(complaint));
  };
  if (auto done = for_each_document(chunk, choice.field, {take, skip}); !done) return fail(done);
  // A document without tokens begins nowhere.
  while (!tokens.begins.empty() && tokens.begins.back() == ids.size()) tokens.begins.pop_back();
  return tokens;
}

bool parts_at(std::string_view text, size_t at, Tokenizer& tokenizer) {
  constexpr size_t kAround = 1 << 10;
  // From a word's or a line's start on, where there is one, so that no character is cut.
  const size_t low = at - std::min(at, kAround);
  const size_t space = text.find_first_of(" \n", low);
  const size_t begin = low == 0 || space >= at ? low : space;
  const auto before = tokenizer.encode(text.substr(begin, at - begin), true);
  const auto behind = tokenizer.encode(text.substr(at, kAround), true);
  const auto whole = tokenizer.encode(text.substr(begin, at - begin + kAround), true);
  return before && behind && whole && whole->size() == before->size() + behind->size() &&
         std::equal(before->begin(), before->end(), whole->begin()) &&
         std::equal(behind->begin(), behind->end(),
                    whole->begin() + static_cast<ptrdiff_t>(before->size()));
}

}  // namespace heddle::data
