#include "gui/views/runs/run_filter.h"

#include <QRegularExpression>

#include "gui/models/value.h"

namespace heddle::gui {
namespace {

RunFilter::Test testOf(const QString& sign) {
  if (sign == QStringLiteral(":")) return RunFilter::Test::contains;
  if (sign == QStringLiteral("=")) return RunFilter::Test::equal;
  if (sign == QStringLiteral("!=")) return RunFilter::Test::differs;
  if (sign == QStringLiteral("<")) return RunFilter::Test::less;
  if (sign == QStringLiteral("<=")) return RunFilter::Test::lessEqual;
  if (sign == QStringLiteral(">")) return RunFilter::Test::greater;
  return RunFilter::Test::greaterEqual;
}

bool compareNumbers(RunFilter::Test test, double left, double right) {
  switch (test) {
    case RunFilter::Test::equal:
      return left == right;
    case RunFilter::Test::differs:
      return left != right;
    case RunFilter::Test::less:
      return left < right;
    case RunFilter::Test::lessEqual:
      return left <= right;
    case RunFilter::Test::greater:
      return left > right;
    case RunFilter::Test::greaterEqual:
      return left >= right;
    default:
      return false;
  }
}

QString plainText(const storage::Value& value) {
  if (const double* found = std::get_if<double>(&value)) return QString::number(*found, 'g', 12);
  return valueText({}, value);
}

bool holds(const RunFilter::Term& term, const storage::Value& value) {
  if (term.test == RunFilter::Test::contains)
    return plainText(value).contains(term.value, Qt::CaseInsensitive);
  bool isNumber = false;
  const double wanted = term.value.toDouble(&isNumber);
  const auto found = number(value);
  if (isNumber && found) return compareNumbers(term.test, *found, wanted);
  const int order = plainText(value).compare(term.value, Qt::CaseInsensitive);
  return compareNumbers(term.test, order, 0);
}

}  // namespace

RunFilter::RunFilter(const QString& text) {
  static const QRegularExpression comparison(
      QStringLiteral("^([A-Za-z_][\\w.]*)(:|=|!=|<=|>=|<|>)(.+)$"));
  // "lr > 1e-4" means what "lr>1e-4" does.
  static const QRegularExpression spaced(QStringLiteral("\\s*(!=|<=|>=|<|>|=)\\s*"));
  QString joined = text.trimmed();
  joined.replace(spaced, QStringLiteral("\\1"));
  static const QRegularExpression space(QStringLiteral("\\s+"));
  for (const QString& word : joined.split(space, Qt::SkipEmptyParts)) {
    if (word == QStringLiteral("and")) continue;
    const auto match = comparison.match(word);
    if (match.hasMatch())
      terms_.push_back({testOf(match.captured(2)), match.captured(1), match.captured(3)});
    else
      terms_.push_back({Test::word, {}, word});
  }
}

QStringList RunFilter::keys() const {
  QStringList keys;
  for (const Term& term : terms_)
    if (term.test != Test::word && !keys.contains(term.key)) keys.append(term.key);
  return keys;
}

bool RunFilter::matches(const QString& words, const Lookup& lookup) const {
  for (const Term& term : terms_) {
    if (term.test == Test::word) {
      if (!words.contains(term.value, Qt::CaseInsensitive)) return false;
      continue;
    }
    const auto value = lookup(term.key);
    if (!value || !holds(term, *value)) return false;
  }
  return true;
}

}  // namespace heddle::gui
