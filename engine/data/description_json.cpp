#include "engine/data/description_json.h"

namespace heddle::data {
namespace {

using Json = nlohmann::ordered_json;

Json json_of(const DescribedSource& source) {
  Json json = {{"name", source.name},
               {"share", source.share},
               {"files", source.files},
               {"bytes", source.bytes},
               {"known", source.known == Known::counted ? "counted" : "guessed"},
               {"tokens", source.tokens},
               {"skipped", source.skipped},
               {"complaints", source.complaints},
               {"epochs", source.epochs}};
  if (source.documents) json["documents"] = *source.documents;
  return json;
}

DescribedSource source_from(const nlohmann::json& json) {
  DescribedSource source{.name = json.at("name"),
                         .share = json.at("share"),
                         .files = json.at("files"),
                         .bytes = json.at("bytes"),
                         .known = json.at("known") == "counted" ? Known::counted : Known::guessed,
                         .tokens = json.at("tokens"),
                         .documents = {},
                         .skipped = json.at("skipped"),
                         .complaints = json.at("complaints"),
                         .epochs = json.at("epochs")};
  if (json.contains("documents")) source.documents = json.at("documents").get<int64_t>();
  return source;
}

}  // namespace

Json to_json(const Description& description) {
  Json sources = Json::array(), samples = Json::array();
  for (const DescribedSource& source : description.sources) sources.push_back(json_of(source));
  for (const DescribedSample& sample : description.samples)
    samples.push_back({{"source", sample.source},
                       {"tokens", sample.tokens},
                       {"whole", sample.whole},
                       {"documents", sample.documents}});
  return {{"sources", std::move(sources)},
          {"run_tokens", description.run_tokens},
          {"samples", std::move(samples)},
          {"parting", description.parting},
          {"first_of_run", description.first_of_run},
          {"notes", description.notes}};
}

Description description_from(const nlohmann::json& json) {
  Description description;
  for (const nlohmann::json& source : json.at("sources"))
    description.sources.push_back(source_from(source));
  description.run_tokens = json.at("run_tokens");
  for (const nlohmann::json& sample : json.at("samples"))
    description.samples.push_back({.source = sample.at("source"),
                                   .tokens = sample.at("tokens"),
                                   .whole = sample.at("whole"),
                                   .documents = sample.at("documents")});
  description.parting = json.value("parting", std::string());
  description.first_of_run = json.at("first_of_run");
  description.notes = json.at("notes");
  for (const DescribedSample& sample : description.samples)
    if (sample.source >= description.sources.size())
      throw nlohmann::json::out_of_range::create(401, "a sample of no source", &json);
  return description;
}

}  // namespace heddle::data
