#include "engine/data/text_encoding.h"

#include <algorithm>

#include "base/utf8.h"
#include "engine/data/byte_stream.h"

namespace heddle::data {
namespace {

constexpr size_t kStart = 1 << 16;
constexpr size_t kMaxFiles = 10'000;  // half a second
constexpr size_t kLongestCharacter = 4;

/// Bytes that are no UTF-8, the first of them, and characters of several bytes.
struct Counts {
  size_t wrong = 0, first_wrong = 0, characters = 0;
};

Counts counts_of(std::string_view text) {
  Counts counts;
  for (size_t at = 0; at < text.size(); ++at) {
    const size_t valid = valid_utf8_prefix(text.substr(at));
    counts.characters += static_cast<size_t>(std::ranges::count_if(
        text.substr(at, valid), [](char c) { return static_cast<unsigned char>(c) >= 0xC0; }));
    at += valid;
    if (at + kLongestCharacter > text.size()) break;  // it may have been cut here
    if (counts.wrong++ == 0) counts.first_wrong = at;
  }
  return counts;
}

}  // namespace

std::string encoding_fault(std::string_view start, TextKind kind) {
  constexpr std::string_view kLittle = "\xFF\xFE", kBig = "\xFE\xFF";
  start = start.substr(0, kStart);
  const auto zeros = static_cast<size_t>(std::ranges::count(start, '\0'));
  if (start.starts_with(kLittle) || start.starts_with(kBig) || zeros > start.size() / 4)
    return "it is UTF-16, or no text at all; valid: UTF-8 (iconv -f UTF-16 -t UTF-8 makes it so)";
  if (kind != TextKind::plain) return {};  // whose lines are judged one by one
  const Counts counts = counts_of(start);
  if (counts.wrong <= counts.characters) return {};
  return fmt::format(
      "its byte {} (0x{:02X}) is no UTF-8: it is probably Latin-1 or Windows-1252; valid: UTF-8 "
      "(iconv -f WINDOWS-1252 -t UTF-8 makes it so)",
      counts.first_wrong, static_cast<unsigned char>(start[counts.first_wrong]));
}

Result<> check_encodings(const std::vector<SourceFile>& files) {
  std::string start;
  for (size_t i = 0; i < std::min(files.size(), kMaxFiles); ++i) {
    const SourceFile& file = files[i];
    if (file.format.kind == TextKind::parquet) continue;
    auto stream = ByteStream::open(file, "");
    if (!stream) return fail(stream);
    start.clear();
    if (auto read = (*stream)->read(start, kStart); !read) return fail(read);
    if (const std::string fault = encoding_fault(start, file.format.kind); !fault.empty())
      return fail("{}: {}", file.path, fault);
  }
  return {};
}

}  // namespace heddle::data
