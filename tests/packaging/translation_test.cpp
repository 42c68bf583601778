// Words that the window shows go through tr(): literals that read like words are looked at, with
// the calls around them.
#include <QRegularExpression>
#include <QTest>
#include <algorithm>

#include "tests/packaging/repository.h"
#include "tests/support/test_class.h"

using namespace heddle;

namespace {

// The shell's words, which are English, as the engine's are.
const QStringList kOfTheShell{"gui/main.cpp", "gui/window/render.cpp"};
// Calls around words that nobody reads, or that are the core's errors.
const QStringList kNotShown{"fail",       "setStyleSheet", "setObjectName", "starts_with",
                            "startsWith", "toString",      "QProxyStyle",   "sized"};
const QStringList kTranslating{"tr", "translate", "QT_TRANSLATE_NOOP", "QT_TRANSLATE_N_NOOP"};
// Names, and words that are keys or are measured.
const QStringList kNames{"Heddle",     "Del",       "Backspace", "found layout",
                         "59 min ago", "no module", "Notify"};
// Groups of the recipe's keys: their table is the engine's, and they are looked up by these.
const QStringList kGroups{"Parallelism", "Memory", "Data", "Checkpoints"};

/// The text without comments and without what is in literals; places stay.
QString hollow(QString text) {
  static const QRegularExpression ofEither(R"x("(?:[^"\\\n]|\\.)*"|//[^\n]*|/\*.*?\*/)x",
                                           QRegularExpression::DotMatchesEverythingOption);
  for (auto found = ofEither.globalMatch(text); found.hasNext();) {
    const auto match = found.next();
    for (qsizetype at = match.capturedStart(); at < match.capturedEnd(); ++at)
      if (text[at] != '\n') text[at] = text[match.capturedStart()] == '"' ? '"' : ' ';
  }
  return text;
}

/// Names before the parentheses that are open at that place, in its statement.
QStringList callsAround(const QString& code, qsizetype place) {
  static const QRegularExpression name(R"x((\w+)\s*$)x");
  QStringList calls;
  int closed = 0;
  for (qsizetype at = place - 1; at >= 0; --at) {
    const QChar c = code[at];
    if (c == ')') ++closed;
    if (c == '(' && closed-- == 0) {
      closed = 0;
      calls << name.match(QStringView(code).left(at)).captured(1);
    }
    if (closed == 0 && (c == ';' || c == '{' || c == '}')) break;
  }
  return calls;
}

bool anyOf(const QStringList& calls, const QStringList& wanted) {
  return std::ranges::any_of(calls, [&](const QString& call) { return wanted.contains(call); });
}

/// Two words beside each other, or one with a capital.
bool readsLikeWords(QString literal) {
  static const QRegularExpression places(R"x(%L?\d+|\\[nt]|<[^>]*>)x");
  static const QRegularExpression words(
      R"x([A-Za-z]{2,} +\(?[A-Za-z]{2,}|^\s*[A-Z][a-z]{2,}[ .:…]*$)x");
  return literal.replace(places, " ").contains(words);
}

QStringList untranslated(const QString& text) {
  static const QRegularExpression literal("\"(?:[^\"\\\\\\n]|\\\\.)*\"");
  const QString code = hollow(text);
  QStringList found;
  for (auto next = literal.globalMatch(text); next.hasNext();) {
    const auto match = next.next();
    const QString words = match.captured().mid(1).chopped(1);
    if (code[match.capturedStart()] != '"' || !readsLikeWords(words)) continue;
    const QStringList calls = callsAround(code, match.capturedStart());
    if (anyOf(calls, kTranslating + kNotShown) || (kNames + kGroups).contains(words)) continue;
    found << QStringLiteral("%1: \"%2\"")
                 .arg(code.left(match.capturedStart()).count('\n') + 1)
                 .arg(words);
  }
  return found;
}

}  // namespace

class TranslationTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void words_without_tr_are_found() {
    QCOMPARE(untranslated("label->setText(\"two words\");\n").size(), 1);
    QCOMPARE(untranslated("button(QStringLiteral(\"Stop\"));").size(), 1);
    QVERIFY(untranslated("label->setText(tr(\"two words\").arg(name(1)));").isEmpty());
    QVERIFY(untranslated("return fail(\"{} is not here\", name);").isEmpty());
    QVERIFY(untranslated("f(1);  // \"two words\"\n").isEmpty());
    QVERIFY(untranslated("setObjectName(\"Stop\"); icon(\"chevron-up\");").isEmpty());
  }

  void all_words_of_the_window_are_translated() {
    QStringList faults;
    int files = 0;
    for (const QString& path : repository::tracked_files()) {
      if (!path.startsWith("gui/") || !repository::is_cpp(path) || kOfTheShell.contains(path))
        continue;
      ++files;
      for (const QString& fault : untranslated(repository::text_of(path)))
        faults << path + ':' + fault;
    }
    QVERIFY(files > 100);
    QVERIFY2(faults.isEmpty(), qPrintable('\n' + faults.join('\n')));
  }

  // format::plural takes nothing else, so that each language has all its plural forms.
  void every_counted_noun_is_a_source_of_translation() {
    static const QRegularExpression noun(R"x(constexpr Noun k\w+\{\s*([^;]*)\};)x");
    static const QRegularExpression source(
        R"x(^QT_TRANSLATE_N_NOOP\("counted",\s*"%1 [a-z ]+\(s\)"\)$)x");
    const QString text = repository::text_of("gui/counted.h");
    int nouns = 0;
    for (auto next = noun.globalMatch(text); next.hasNext(); ++nouns) {
      const QString forms = next.next().captured(1).trimmed();
      QVERIFY2(forms.contains(source), qPrintable(forms));
    }
    QVERIFY(nouns > 20);
    // No other code appends a plural ending.
    static const QRegularExpression ending(R"x([?:]\s*(\w+\()?"s")x");
    for (const QString& path : repository::tracked_files())
      if (path.startsWith("gui/") && repository::is_cpp(path) && path != "gui/format.cpp")
        QVERIFY2(!repository::text_of(path).contains(ending), qPrintable(path));
  }
};

HEDDLE_TEST(TranslationTest)
#include "translation_test.moc"
