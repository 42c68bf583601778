#include "gui/views/runs/run_filter.h"

#include <QObject>
#include <QRegularExpression>
#include <algorithm>
#include <cmath>

#include "gui/models/value.h"
#include "gui/views/runs/runs_model.h"

namespace heddle::gui {
namespace {

using Test = RunFilter::Test;
using Term = RunFilter::Term;
using Problem = RunFilter::Problem;

constexpr int kMaxWords = 3;  // of a value: "18 Nov 2026", "17 min ago"

std::optional<Test> testOf(const QString& sign) {
  if (sign == QStringLiteral(":")) return Test::contains;
  if (sign == QStringLiteral("=") || sign == QStringLiteral("==")) return Test::equal;
  if (sign == QStringLiteral("!=")) return Test::differs;
  if (sign == QStringLiteral("<")) return Test::less;
  if (sign == QStringLiteral("<=")) return Test::lessEqual;
  if (sign == QStringLiteral(">")) return Test::greater;
  if (sign == QStringLiteral(">=")) return Test::greaterEqual;
  return std::nullopt;
}

bool ordersValues(Test test) { return test >= Test::less; }

/// Cuts the text into terms, from left to right, up to the first place that is not understood.
class Parser {
 public:
  Parser(const QString& text, const QDateTime& now) : text_(text), now_(now) {}

  std::optional<Problem> parse(std::vector<std::vector<Term>>& anyOf) {
    anyOf_ = &anyOf;
    for (skipBlanks(); at_ < text_.size() && !problem_; skipBlanks()) readTerm();
    if (!problem_ && joinedBy_.length > 0)
      refuse(joinedBy_.at, joinedBy_.length, QObject::tr("“%1”: something must follow it"));
    return problem_;
  }

 private:
  struct Piece {
    qsizetype at = 0, length = 0;
  };

  void skipBlanks() {
    while (at_ < text_.size() && text_[at_].isSpace()) ++at_;
  }
  static bool isQuote(QChar c) { return c == QChar('"') || c == QChar('\''); }
  static bool isSign(QChar c) { return c == QChar('<') || c == QChar('>') || c == QChar('='); }
  bool isSignAt(qsizetype at) const {
    if (at >= text_.size()) return false;
    return isSign(text_[at]) ||
           (text_[at] == QChar('!') && at + 1 < text_.size() && text_[at + 1] == QChar('='));
  }

  /// `words` has the place as %1.
  void refuse(qsizetype at, qsizetype length, const QString& words) {
    problem_ = Problem{at, length, words.arg(text_.mid(at, length))};
  }

  void add(Term term) {
    if (anyOf_->empty()) anyOf_->emplace_back();
    anyOf_->back().push_back(std::move(term));
    joinedBy_ = {};
  }

  void readTerm() {
    const qsizetype begin = at_;
    if (isQuote(text_[at_])) {
      const auto quoted = readQuoted();
      if (quoted)
        add({Test::word,
             {},
             {.text = *quoted, .number = {}, .from = {}, .until = {}},
             begin,
             at_ - begin});
      bare_ = {};
      return;
    }
    if (text_[at_] == QChar('(') || text_[at_] == QChar(')'))
      return refuse(
          at_, 1,
          QObject::tr("“%1”: brackets are not understood; put them in quotes to look for them"));
    while (at_ < text_.size() && !text_[at_].isSpace() && !isSignAt(at_) &&
           !(text_[at_] == QChar(':') && isName(text_.mid(begin, at_ - begin))))
      ++at_;
    const Piece name{begin, at_ - begin};
    const qsizetype afterName = at_;
    if (at_ < text_.size() && text_[at_].isSpace()) skipBlanks();  // "lr > 1e-4" is "lr>1e-4"
    const bool compares = isSignAt(at_) || (at_ == afterName && at_ < text_.size() &&
                                            text_[at_] == QChar(':') && name.length > 0);
    if (!compares) {
      at_ = afterName;
      return readWord(name);
    }
    readComparison(name);
  }

  static bool isName(const QString& text) {
    static const QRegularExpression name(QStringLiteral("^[A-Za-z_][\\w./]*$"));
    return name.match(text).hasMatch();
  }

  void readWord(const Piece& piece) {
    const QString word = text_.mid(piece.at, piece.length);
    if (word == QStringLiteral("and") || word == QStringLiteral("or") ||
        word == QStringLiteral("&&") || word == QStringLiteral("||")) {
      if (joinedBy_.length > 0 || anyOf_->empty())
        return refuse(
            piece.at, piece.length,
            QObject::tr("“%1”: something must stand before it; put it in quotes to look for it"));
      joinedBy_ = piece;
      if (word == QStringLiteral("or") || word == QStringLiteral("||")) anyOf_->emplace_back();
      bare_ = {};
      return;
    }
    if (word == QStringLiteral("not"))
      return refuse(
          piece.at, piece.length,
          QObject::tr(
              "“%1” is not understood: write key!=value, or put it in quotes to look for it"));
    if (word.contains(QChar('"')))
      return refuse(piece.at, piece.length, QObject::tr("“%1”: quotes go around whole words"));
    if (bare_.length > 0)
      return refuse(piece.at, piece.length,
                    QObject::tr("“%1”: a value with blanks needs quotes, as in %2=\"%3 %4\"; “and” "
                                "begins another condition")
                        .arg(QStringLiteral("%1"), anyOf_->back().back().key,
                             text_.mid(bare_.at, bare_.length), word));
    add({Test::word,
         {},
         {.text = word, .number = {}, .from = {}, .until = {}},
         piece.at,
         piece.length});
  }

  void readComparison(const Piece& name) {
    const qsizetype signAt = at_;
    while (at_ < text_.size() &&
           (isSign(text_[at_]) || text_[at_] == QChar('!') || text_[at_] == QChar(':')))
      ++at_;
    const QString sign = text_.mid(signAt, at_ - signAt);
    QString key = text_.mid(name.at, name.length);
    if (name.length == 0)
      return refuse(signAt, sign.size(),
                    QObject::tr("“%1”: the name of a column or key is missing before it"));
    const qsizetype begin = name.at;
    const auto test = testOf(sign);
    if (!test)
      return refuse(begin, at_ - begin, QObject::tr("“%1”: the signs are : = != < <= > >="));
    if (!isName(key))
      return refuse(begin, at_ - begin,
                    QObject::tr("“%1”: a comparison begins with the name of a column or key"));
    if (key == QStringLiteral("tok/s")) key = QStringLiteral("toks");
    if (key == QStringLiteral("tags")) key = QStringLiteral("tag");
    const qsizetype signEnd = at_;
    skipBlanks();
    const KeyKind kind = kindOf(key);
    if (at_ >= text_.size() || isConnector())
      return refuse(begin, signEnd - begin, QObject::tr("“%1”: a value is missing after it"));
    const qsizetype valueAt = at_;
    std::optional<WantedValue> value;
    const bool quoted = isQuote(text_[at_]);
    if (quoted) {
      const auto text = readQuoted();
      if (!text) return;
      value = readValue(kind, *text, now_);
    } else {
      value = readBare(kind);
    }
    const Piece whole{begin, at_ - begin};
    if (!value)
      return refuse(whole.at, whole.length,
                    QObject::tr("“%1”: %2 is compared with %3")
                        .arg(QStringLiteral("%1"), key, exampleOf(kind)));
    if (!check(*test, kind, key, *value, whole)) return;
    const bool names = kind == KeyKind::words && !ordersValues(*test) && *test != Test::contains;
    bare_ = names && !quoted ? Piece{valueAt, at_ - valueAt} : Piece{};
    add({*test, key, *value, whole.at, whole.length});
  }

  /// Whether the value can be compared so.
  bool check(Test test, KeyKind kind, const QString& key, const WantedValue& value,
             const Piece& whole) {
    const bool words = kind == KeyKind::words || kind == KeyKind::state;
    if (ordersValues(test) && (words || (kind == KeyKind::open && !value.number))) {
      refuse(whole.at, whole.length,
             words
                 ? QObject::tr("“%1”: %2 is compared with : = or !=").arg(QStringLiteral("%1"), key)
                 : QObject::tr("“%1”: < and > compare numbers"));
    } else if (ordersValues(test) && value.number && std::isnan(*value.number)) {
      refuse(whole.at, whole.length, QObject::tr("“%1”: nan is compared with = or !="));
    } else if (kind == KeyKind::state) {
      const auto fits = [&](const QString& state) {
        return test == Test::contains ? state.contains(value.text, Qt::CaseInsensitive)
                                      : state.compare(value.text, Qt::CaseInsensitive) == 0;
      };
      if (std::ranges::none_of(RunsModel::states(), fits))
        refuse(whole.at, whole.length,
               QObject::tr("“%1”: the state is %2").arg(QStringLiteral("%1"), exampleOf(kind)));
    }
    return !problem_;
  }

  bool isConnector() const {
    static const QRegularExpression connector(QStringLiteral("^(and|or|&&|\\|\\|)(\\s|$)"));
    return connector.match(QStringView(text_).mid(at_).toString()).hasMatch();
  }

  /// The longest of the next words that is a value of that kind: "2 h", "18 Nov".
  std::optional<WantedValue> readBare(KeyKind kind) {
    std::vector<qsizetype> ends;
    const bool joins = kind != KeyKind::words && kind != KeyKind::state && kind != KeyKind::open;
    for (qsizetype end = at_; end < text_.size() && ends.size() < (joins ? kMaxWords : 1);) {
      while (end < text_.size() && !text_[end].isSpace()) ++end;
      ends.push_back(end);
      while (end < text_.size() && text_[end].isSpace()) ++end;
    }
    for (auto end = ends.rbegin(); end != ends.rend(); ++end)
      if (auto value = readValue(kind, text_.mid(at_, *end - at_).simplified(), now_)) {
        at_ = *end;
        return value;
      }
    at_ = ends.front();
    return std::nullopt;
  }

  std::optional<QString> readQuoted() {
    const qsizetype begin = at_;
    const qsizetype end = text_.indexOf(text_[begin], begin + 1);
    if (end < 0) {
      refuse(begin, text_.size() - begin, QObject::tr("%1: the quote is not closed"));
      return std::nullopt;
    }
    at_ = end + 1;
    return text_.mid(begin + 1, end - begin - 1);
  }

  const QString& text_;
  const QDateTime now_;
  qsizetype at_ = 0;
  std::vector<std::vector<Term>>* anyOf_ = nullptr;
  std::optional<Problem> problem_;
  Piece joinedBy_;  // the "and" or "or" that something must follow
  Piece bare_;      // a name's value without quotes, which a word cannot follow
};

bool holdsInOrder(Test test, bool equal, bool less) {
  switch (test) {
    case Test::differs:
      return !equal;
    case Test::less:
      return less && !equal;
    case Test::lessEqual:
      return less || equal;
    case Test::greater:
      return !less && !equal;
    case Test::greaterEqual:
      return !less || equal;
    default:
      return equal;
  }
}

bool holdsForNumber(const Term& term, KeyKind kind, double found) {
  const double wanted = *term.value.number;
  // NaN is equal to NaN alone, and neither more nor less than anything.
  if (std::isnan(found) || std::isnan(wanted)) {
    const bool both = std::isnan(found) && std::isnan(wanted);
    return term.test == Test::differs ? !both : both;
  }
  const bool equal = numberText(kind, found) == numberText(kind, wanted);
  return holdsInOrder(term.test, equal, found < wanted);
}

QString wordsOf(KeyKind kind, const storage::Value& value) {
  if (const double* number = std::get_if<double>(&value)) return numberText(kind, *number);
  return valueText({}, value);
}

bool holds(const Term& term, const storage::Value& value) {
  const KeyKind kind = kindOf(term.key);
  if (kind == KeyKind::date) {
    const double time = std::get<double>(value);
    const bool equal = time >= *term.value.from && time < *term.value.until;
    return holdsInOrder(term.test, equal, time < *term.value.from);
  }
  const auto found = number(value);
  if (term.test == Test::contains)
    return wordsOf(kind, value).contains(term.value.text, Qt::CaseInsensitive) ||
           (term.value.number && found && holdsForNumber(term, kind, *found));
  if (term.value.number && found) return holdsForNumber(term, kind, *found);
  if (ordersValues(term.test)) return false;  // of words
  const bool equal = wordsOf(kind, value).compare(term.value.text, Qt::CaseInsensitive) == 0;
  return equal == (term.test == Test::equal);
}

}  // namespace

RunFilter::RunFilter(const QString& text, const QDateTime& now) {
  problem_ = Parser(text, now).parse(anyOf_);
}

void RunFilter::refuse(const QString& key, const QString& why) {
  for (const auto& terms : anyOf_)
    for (const Term& term : terms)
      if (term.test != Test::word && term.key == key && !problem_)
        problem_ = Problem{term.at, term.length, why};
}

QStringList RunFilter::keys() const {
  QStringList keys;
  for (const auto& terms : anyOf_)
    for (const Term& term : terms)
      if (term.test != Test::word && !keys.contains(term.key)) keys.append(term.key);
  return keys;
}

bool RunFilter::matches(const QString& words, const Lookup& lookup) const {
  if (problem_) return false;
  const auto holdsNow = [&](const Term& term) {
    if (term.test == Test::word) return words.contains(term.value.text, Qt::CaseInsensitive);
    const auto value = lookup(term.key);
    return value && holds(term, *value);
  };
  return anyOf_.empty() || std::ranges::any_of(anyOf_, [&](const std::vector<Term>& terms) {
           return std::ranges::all_of(terms, holdsNow);
         });
}

}  // namespace heddle::gui
