#include "gui/models/value.h"

#include <QObject>

#include "engine/telemetry/metrics.h"
#include "gui/format.h"
#include "storage/difference.h"
#include "storage/value_text.h"

namespace heddle::gui {

std::optional<double> resultOf(const storage::RunDetail& run, const std::string& name) {
  const auto found = run.results.find(name);
  return found == run.results.end() ? std::nullopt : storage::number_of(found->second);
}

QString valueText(const std::string& key, const storage::Value& value) {
  return format::spelled(storage::value_text(key, value));
}

QStringList valueTexts(const std::string& key,
                       const std::vector<std::optional<storage::Value>>& values) {
  const std::vector<std::string> all =
      storage::value_texts(key, values, format::kNone.toStdString());
  QStringList texts;
  for (const std::string& text : all) texts << format::spelled(text);
  return texts;
}

QString keyText(const std::string& key) { return QString::fromStdString(telemetry::words_of(key)); }

QString resultText(const std::string& key) {
  const QString text = keyText(key);
  const bool isMedian = telemetry::metric(key).over_steps == telemetry::Average::median;
  return isMedian ? QObject::tr("%1, median").arg(text) : text;
}

}  // namespace heddle::gui
