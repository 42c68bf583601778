#include "engine/links/link.h"

#include <cmath>
#include <nlohmann/json.hpp>

#include "base/budget.h"
#include "base/excerpt.h"
#include "base/json_number.h"
#include "base/read_json.h"

namespace heddle::links {
namespace {

using nlohmann::json;

Result<json> object_from(const std::string& printed) {
  Result<json> read = read_json(printed);
  if (!read || !read->is_object()) return fail("answered \"{}\"", excerpt(printed, 200));
  return read;
}

}  // namespace

json to_json(const Link& link) {
  return {{"seconds", link.seconds}, {"out", link.out}, {"back", link.back}};
}

Link link_from_json(const json& json) {
  return {json.at("seconds").get<double>(), json.at("out").get<double>(),
          json.at("back").get<double>()};
}

Result<Link> link_from(const std::string& printed) {
  const Result<json> object = object_from(printed);
  if (!object) return fail(object);
  try {
    const Link link = link_from_json(*object);
    for (const double value : {link.seconds, link.out, link.back})
      if (!std::isfinite(value) || value <= 0)
        return fail("answered \"{}\"", excerpt(printed, 200));
    return link;
  } catch (const json::exception&) {
    return fail("answered \"{}\"", excerpt(printed, 200));
  }
}

Result<Listener> listener_from(const std::string& printed) {
  const Result<json> object = object_from(printed);
  if (!object) return fail(object);
  try {
    return Listener{object->at("address"), whole_or(*object, "port", uint16_t{0})};
  } catch (const json::exception&) {
    return fail("answered \"{}\"", excerpt(printed, 200));
  }
}

}  // namespace heddle::links
