#include "gui/models/plan_question.h"

#include <charconv>
#include <nlohmann/json.hpp>
#include <string_view>

#include "base/json_text.h"
#include "base/read_json.h"

namespace heddle::gui {
namespace {

using nlohmann::json;

// Enough for a plan with the timelines of all its stages.
constexpr Budget kAnswerBudget{.bytes = size_t{256} << 20, .values = 16'000'000};

QByteArray ended(const json& line) {
  // A recipe that is being typed may hold anything.
  return QByteArray::fromStdString(json_text(line)) + '\n';
}

QString text(const json& object, const char* key) {
  return QString::fromStdString(object.value(key, ""));
}

}  // namespace

QByteArray questionLine(quint64 id, const QString& key, const PlanQuestion& question) {
  json line = {{"id", id},
               {"key", key.toStdString()},
               {"recipe", question.recipe.toStdString()},
               {"file", question.file.toStdString()},
               {"executor", question.executor.toStdString()},
               {"timeline", question.timeline},
               {"closes", question.closes}};
  if (!question.sets.isEmpty()) {
    line["sets"] = json::array();
    for (const QString& set : question.sets) line["sets"].push_back(set.toStdString());
  }
  if (question.ranks > 0) line["ranks"] = question.ranks;
  if (!question.hardware.isEmpty()) line["hardware"] = question.hardware.toStdString();
  return ended(line);
}

QByteArray catalogueLine(quint64 id) { return ended({{"id", id}, {"catalogue", true}}); }

quint64 answerId(const QByteArray& line) {
  constexpr std::string_view kId = "\"id\":";
  const std::string_view head(line.constData(),
                              static_cast<size_t>(std::min<qsizetype>(line.size(), 64)));
  size_t at = head.find(kId);
  if (at == std::string_view::npos) return 0;
  at = head.find_first_not_of(' ', at + kId.size());
  quint64 id = 0;
  if (at != std::string_view::npos)
    std::from_chars(head.data() + at, head.data() + head.size(), id);
  return id;
}

PlanAnswer readAnswer(const QByteArray& line) {
  PlanAnswer answer;
  answer.id = answerId(line);
  const Result<json> read =
      read_json({line.constData(), static_cast<size_t>(line.size())}, kAnswerBudget);
  if (!read) {
    answer.error = QStringLiteral("an answer that cannot be read: %1")
                       .arg(QString::fromStdString(read.error().message));
    return answer;
  }
  const json& object = *read;
  try {
    if (object.contains("plan")) {
      answer.prediction = readPrediction(object["plan"]);
    } else if (object.contains("faults")) {
      for (const json& fault : object["faults"])
        answer.faults << PlanFault{fault.value("line", 0), fault.value("column", 0),
                                   text(fault, "key"), text(fault, "text"), text(fault, "valid")};
    } else if (object.contains("catalogue")) {
      answer.catalogue.emplace();
      for (const json& entry : object["catalogue"])
        *answer.catalogue << HardwareEntry{text(entry, "name"), text(entry, "words")};
    } else if (object.contains("cancelled")) {
      answer.cancelled = true;
    } else {
      answer.error = text(object, "error");
      if (answer.error.isEmpty()) answer.error = QStringLiteral("an answer that says nothing");
    }
  } catch (const json::exception& error) {
    answer.error = QStringLiteral("an answer that cannot be read: %1").arg(error.what());
  }
  return answer;
}

}  // namespace heddle::gui
