// The answers of plan/question.h.
#include <charconv>
#include <nlohmann/json.hpp>

#include "base/json_number.h"
#include "base/json_text.h"
#include "base/read_json.h"
#include "engine/plan/question.h"

namespace heddle::plan {
namespace {

using Json = nlohmann::json;
using OrderedJson = nlohmann::ordered_json;

// Enough for a plan with the timelines of all its stages.
constexpr Budget kAnswerBudget{.bytes = size_t{256} << 20, .values = 16'000'000};

OrderedJson fault_json(const Fault& fault) {
  return {{"line", fault.line},
          {"column", fault.column},
          {"key", fault.key},
          {"text", fault.text},
          {"valid", fault.valid}};
}

Fault fault_from(const Json& json) {
  return {whole_or(json, "line", 0), whole_or(json, "column", 0), json.value("key", ""),
          json.value("text", ""), json.value("valid", "")};
}

struct ReplyWriter {
  OrderedJson& line;
  void operator()(const Document& plan) const { line["plan"] = to_json(plan); }
  void operator()(const SearchResult& found) const { line["found"] = to_json(found); }
  void operator()(const RankCounts& counts) const { line["counts"] = to_json(counts); }
  void operator()(const Cancelled&) const { line["cancelled"] = true; }
  void operator()(const Error& error) const { line["error"] = error.message; }
  void operator()(const std::vector<Fault>& faults) const {
    line["faults"] = OrderedJson::array();
    for (const Fault& fault : faults) line["faults"].push_back(fault_json(fault));
  }
  void operator()(const std::vector<HardwareEntry>& catalogue) const {
    line["catalogue"] = OrderedJson::array();
    for (const HardwareEntry& entry : catalogue)
      line["catalogue"].push_back({{"name", entry.name}, {"words", entry.words}});
  }
};

decltype(Answer::reply) reply_from(const Json& line) {
  if (line.contains("plan")) return from_json(line["plan"]);
  if (line.contains("found")) return search_result_from_json(line["found"]);
  if (line.contains("counts")) return rank_counts_from_json(line["counts"]);
  if (line.contains("cancelled")) return Cancelled{};
  if (line.contains("faults")) {
    std::vector<Fault> faults;
    for (const Json& fault : line["faults"]) faults.push_back(fault_from(fault));
    return faults;
  }
  if (line.contains("catalogue")) {
    std::vector<HardwareEntry> entries;
    for (const Json& entry : line["catalogue"])
      entries.push_back({entry.value("name", ""), entry.value("words", "")});
    return entries;
  }
  const std::string error = line.value("error", "");
  return Error{error.empty() ? "an answer that says nothing" : error};
}

}  // namespace

std::string line_of(const Answer& answer) {
  // The id first: see answer_id.
  OrderedJson line{{"id", nullptr}};
  if (answer.id) line["id"] = *answer.id;
  if (answer.progress) line["progress"] = *answer.progress;
  std::visit(ReplyWriter{line}, answer.reply);
  return json_text(line);
}

Answer read_answer(std::string_view line) {
  Answer answer{.id = answer_id(line), .progress = {}};
  const auto unreadable = [&](std::string_view why) {
    answer.reply = Error{fmt::format("an answer that cannot be read: {}", why)};
    return std::move(answer);
  };
  const Result<Json> read = read_json(line, kAnswerBudget);
  if (!read) return unreadable(read.error().message);
  try {
    if (const auto progress = read->find("progress"); progress != read->end())
      answer.progress = progress->get<double>();
    answer.reply = reply_from(*read);
    return answer;
  } catch (const Json::exception& error) {
    return unreadable(error.what());
  }
}

std::optional<uint64_t> answer_id(std::string_view line) {
  constexpr std::string_view kId = "\"id\":";
  const std::string_view head = line.substr(0, 64);
  size_t at = head.find(kId);
  if (at == std::string_view::npos) return std::nullopt;
  at = head.find_first_not_of(' ', at + kId.size());
  if (at == std::string_view::npos) return std::nullopt;
  uint64_t id = 0;
  const auto parsed = std::from_chars(head.data() + at, head.data() + head.size(), id);
  return parsed.ec == std::errc() ? std::optional(id) : std::nullopt;
}

}  // namespace heddle::plan
