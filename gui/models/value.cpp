#include "gui/models/value.h"

#include <QHash>
#include <cmath>
#include <map>

#include "engine/plan/memory_bytes.h"
#include "gui/format.h"
#include "storage/queries.h"

namespace heddle::gui {
namespace {

constexpr int kMaxDigits = 12;  // more than are usual

/// `more`: see gui/format.h.
QString numberText(const QString& key, double value, int more = 0) {
  if (!std::isfinite(value)) return format::notFinite(value);
  if (key.contains(QStringLiteral("_bytes"))) return format::bytes(value, more);
  if (key.contains(QStringLiteral("tokens_per_second")))
    return format::tokensPerSecond(value, more);
  if (key.endsWith(QStringLiteral("seconds"))) return format::seconds(value, more);
  if (key.endsWith(QStringLiteral("loss"))) return format::loss(value, more);
  if (key.endsWith(QStringLiteral("mfu")) || key.endsWith(QStringLiteral("uncertain")))
    return format::percent(value, more);
  if (value == std::floor(value) && std::abs(value) < 1e15)
    return format::count(static_cast<qint64>(value));
  return format::significant(value, 4 + more);
}

QString textOf(const QString& name, const storage::Value& value, int more) {
  if (const double* found = std::get_if<double>(&value)) return numberText(name, *found, more);
  QString text = format::spelled(std::get<std::string>(value));
  if (text.size() > 2 && text.startsWith(QChar('"')) && text.endsWith(QChar('"')))
    return text.mid(1, text.size() - 2);
  return text;
}

/// Names that read better than their keys.
const std::map<QString, QString>& names() {
  static const std::map<QString, QString> names = [] {
    std::map<QString, QString> names = {
        {"tokens_per_second_per_rank", "tok/s a rank"},
        {"step_seconds", "step"},
        {"peak_bytes", "peak memory"},
        {"predicted_peak_bytes", "predicted peak"},
        {"predicted_tokens_per_second_per_rank", "predicted tok/s"},
        {"predicted_step_seconds", "predicted step"},
        {"predicted_exposed_seconds", "predicted exposed"},
        {"predicted_bubble_seconds", "predicted bubble"},
        {"predicted_uncertain", "prediction ±"},
        {"first_step_seconds", "time to first step"},
        {"capture_seconds", "capture"},
        {"plan_seconds", "plan"},
        {"exposed_seconds", "exposed"},
        {"model_forward_calls", "model forward calls"},
        {"collectives", "collectives a step"},
        {"nodes", "graph nodes"},
        {"mfu", "MFU"},
        {"predicted_mfu", "predicted MFU"},
        {"bubble_seconds", "bubble"},
        {"uncertain", "prediction ±"},
    };
    for (const char* category : plan::kCategoryNames) {
      const QString key = QLatin1String(category) + QStringLiteral("_bytes");
      names[key] = QStringLiteral("memory, ") + QLatin1String(category);
      names[QStringLiteral("predicted_") + key] =
          QStringLiteral("predicted memory, ") + QLatin1String(category);
    }
    return names;
  }();
  return names;
}

QString lastPart(const QString& key) { return key.section(QChar('.'), -1); }

}  // namespace

std::optional<double> number(const storage::Value& value) {
  if (const double* found = std::get_if<double>(&value)) return *found;
  bool ok = false;
  QString text = QString::fromStdString(std::get<std::string>(value));
  const double found = text.remove(QChar('_')).toDouble(&ok);
  return ok ? std::optional(found) : std::nullopt;
}

QString valueText(const QString& key, const storage::Value& value) {
  return textOf(lastPart(key), value, 0);
}

QStringList valueTexts(const QString& key,
                       const std::vector<std::optional<storage::Value>>& values) {
  QStringList texts;
  for (int more = 0; more <= kMaxDigits; ++more) {
    texts.clear();
    QHash<QString, const std::optional<storage::Value>*> seen;
    bool clash = false;
    for (const auto& value : values) {
      texts << (value ? textOf(lastPart(key), *value, more) : format::kNone);
      const auto found = seen.constFind(texts.last());
      if (found == seen.constEnd())
        seen.insert(texts.last(), &value);
      else
        clash = clash || !storage::same(**found, value);
    }
    if (!clash) break;
  }
  return texts;
}

QString keyText(const QString& key) {
  const QString name = lastPart(key);
  const auto found = names().find(name);
  return found == names().end() ? QString(name).replace(QChar('_'), QChar(' ')) : found->second;
}

QString resultText(const QString& key) {
  static const QStringList medians = {"tokens_per_second_per_rank", "step_seconds",
                                      "exposed_seconds", "bubble_seconds"};
  const QString text = keyText(key);
  return medians.contains(lastPart(key)) ? QObject::tr("%1, median").arg(text) : text;
}

QString keyMeaning(const QString& key) {
  if (lastPart(key) != QStringLiteral("predicted_uncertain")) return {};
  return QObject::tr(
      "Known before the launch: how far predictions for that machine were off in earlier runs. "
      "Compare the step with the predicted step to see how far off this run's own is.");
}

int betterDirection(const QString& key) {
  const QString name = lastPart(key);
  if (name.startsWith(QStringLiteral("predicted"))) return 0;
  if (name.contains(QStringLiteral("tokens_per_second")) || name == QStringLiteral("mfu")) return 1;
  for (const char* less : {"loss", "seconds", "peak_bytes", "collectives"})
    if (name.endsWith(QLatin1String(less))) return -1;
  return 0;
}

}  // namespace heddle::gui
