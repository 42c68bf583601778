#include "engine/recipe/data_sources.h"

#include <fmt/format.h>

#include <algorithm>

namespace heddle::recipe {
namespace {

constexpr int kMaxPathParts = 8;  // of a path

/// The last parts of a path: "web/" of "/data/web/", or "data/web/".
std::string path_end(const std::string& path, int parts) {
  if (path.size() < 2) return path;
  size_t at = path.size() - 1;  // a folder's slash at the end is no part's
  for (; parts > 0 && at > 0; --parts) {
    at = path.rfind('/', at - 1);
    if (at == std::string::npos) return path;
  }
  return path.substr(at + 1);
}

std::string name_of(const std::vector<std::string>& paths, int parts) {
  const std::string first = path_end(paths.front(), parts);
  return paths.size() == 1 ? first : fmt::format("{} and {} more", first, paths.size() - 1);
}

}  // namespace

std::vector<DataSource> sources_of(const Data& data) {
  if (!data.token_ids.empty()) return {{path_end(data.token_ids, 1)}};
  if (!data.text.empty()) return {{name_of(data.text, 1)}};
  double all = 0;
  for (const MixPart& part : data.mix) all += part.weight;
  std::vector<DataSource> sources;
  for (const MixPart& part : data.mix)
    sources.push_back({name_of(part.text, 1), part.weight / all});
  const auto rename_alike = [&](auto name) {
    const std::vector<DataSource> before = sources;
    for (size_t i = 0; i < before.size(); ++i)
      if (std::ranges::count(before, before[i].name, &DataSource::name) > 1)
        sources[i].name = name(i);
  };
  for (int parts = 2; parts <= kMaxPathParts; ++parts)
    rename_alike([&](size_t i) { return name_of(data.mix[i].text, parts); });
  rename_alike([&](size_t i) { return fmt::format("{} ({})", sources[i].name, i + 1); });
  return sources;
}

}  // namespace heddle::recipe
