#include "engine/data/store_progress.h"

#include <fmt/format.h>
#include <unistd.h>

#include <nlohmann/json.hpp>

#include "base/json_text.h"
#include "base/number_text.h"
#include "base/read_json.h"
#include "engine/data/shard_writer.h"

namespace heddle::data {
namespace {

std::string path_in(const std::string& folder) { return folder + "/progress.json"; }

}  // namespace

void keep_progress(const std::string& folder, const StoreProgress& progress) {
  const nlohmann::ordered_json json = {{"tokens", progress.tokens},
                                       {"documents", progress.documents},
                                       {"skipped", progress.skipped},
                                       {"bytes", progress.bytes},
                                       {"share", progress.share},
                                       {"bytes_a_second", progress.bytes_a_second},
                                       {"seconds_left", progress.seconds_left}};
  // It is for people: without it all goes on.
  (void)write_store_file(path_in(folder), json_text(json) + "\n", false);
}

std::optional<StoreProgress> read_progress(const std::string& folder) {
  const auto json = read_json_file(path_in(folder));
  if (!json || !json->is_object()) return std::nullopt;
  try {
    return StoreProgress{json->at("tokens"),      json->at("documents"), json->at("skipped"),
                         json->at("bytes"),       json->at("share"),     json->at("bytes_a_second"),
                         json->at("seconds_left")};
  } catch (const nlohmann::json::exception&) {
    return std::nullopt;  // somebody else's file
  }
}

void forget_progress(const std::string& folder) { unlink(path_in(folder).c_str()); }

std::string progress_text(const StoreProgress& progress) {
  std::string text = fmt::format(
      "{} tokens of {}, {}/s", count_text(static_cast<double>(progress.tokens)),
      bytes_text(static_cast<double>(progress.bytes)), bytes_text(progress.bytes_a_second));
  if (progress.seconds_left > 0)
    text += fmt::format(", {} left", seconds_text(progress.seconds_left));
  return text;
}

}  // namespace heddle::data
