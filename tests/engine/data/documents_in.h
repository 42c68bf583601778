// The totals of a recipe's texts, in a line.
#pragma once

#include <QString>
#include <string>
#include <vector>

#include "engine/data/documents.h"

namespace heddle::data {

/// The documents as "[one][two]", one that is skipped as "<why>", or the error; `folder` written as
/// "F".
inline QString documents_in(const std::vector<std::string>& paths, const std::string& field,
                            const QString& folder) {
  std::string joined;
  const auto take = [&](const DocumentPart& part) -> Result<> {
    joined += fmt::format("{}{}{}", part.begins ? "[" : "", part.text, part.ends ? "]" : "");
    return {};
  };
  const auto skip = [&](const std::string& why) { joined += fmt::format("<{}>", why); };
  const auto read = [&]() -> Result<> {
    const auto sources = find_sources(paths);
    if (!sources) return fail(sources);
    ChunkReader reader(sources->files, field, {});
    while (true) {
      const auto chunk = reader.next();
      if (!chunk) return fail(chunk);
      if (!*chunk) return {};
      if (auto done = for_each_document(**chunk, field, {take, skip}); !done) return done;
    }
  }();
  return QString::fromStdString(read ? joined : read.error().message).replace(folder, "F");
}

}  // namespace heddle::data
