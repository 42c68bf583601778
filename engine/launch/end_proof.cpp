#include "engine/launch/end_proof.h"

#include <nlohmann/json.hpp>

#include "base/json_text.h"
#include "base/signature.h"

namespace heddle::launch {
namespace {

std::string text_of(runs::End end, const Part& part) {
  end.signature.clear();
  return json_text(nlohmann::json{{"end", to_json(end)},
                                  {"folder", part.folder},
                                  {"epoch", part.epoch},
                                  {"first_rank", part.first_rank},
                                  {"local_ranks", part.local_ranks}});
}

}  // namespace

Result<std::string> prove(const runs::End& end, const Part& part, const Secret& secret) {
  return sign(secret, text_of(end, part));
}

bool is_proven(const runs::End& end, const Part& part, const std::string& key) {
  return is_signed(key, text_of(end, part), end.signature);
}

}  // namespace heddle::launch
