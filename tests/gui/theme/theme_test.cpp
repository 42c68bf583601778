// The look's promises: contrast of every text colour, run colours, fonts, units.
#include "gui/theme/theme.h"

#include <QApplication>
#include <QFontInfo>
#include <QSignalSpy>
#include <QTest>
#include <QTranslator>
#include <cmath>

#include "gui/format.h"
#include "gui/theme/icons.h"
#include "gui/theme/run_colors.h"
#include "tests/support/test_class.h"

using namespace heddle::gui;

class ThemeTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void initTestCase() { Theme::install(Theme::Mode::dark); }

  void textIsReadable_data() {
    QTest::addColumn<QColor>("text");
    QTest::addColumn<QColor>("background");
    for (const Scheme scheme : {Scheme::dark, Scheme::light}) {
      const Colors& c = colorsOf(scheme);
      const std::pair<const char*, QColor> texts[] = {
          {"text", c.text},         {"muted", c.muted},       {"accentText", c.accentText},
          {"goodText", c.goodText}, {"warnText", c.warnText}, {"badText", c.badText}};
      const std::pair<const char*, QColor> backgrounds[] = {{"window", c.window},
                                                            {"surface", c.surface},
                                                            {"raised", c.raised},
                                                            {"selected", c.selected},
                                                            {"current", c.current}};
      for (const auto& [name, text] : texts)
        for (const auto& [under, background] : backgrounds)
          QTest::addRow("%s, %s on %s", scheme == Scheme::dark ? "dark" : "light", name, under)
              << text << background;
      QTest::addRow("%s, text on accent", scheme == Scheme::dark ? "dark" : "light")
          << c.onAccent << c.accent;
    }
  }

  void textIsReadable() {
    QFETCH(QColor, text);
    QFETCH(QColor, background);
    QVERIFY2(contrast(text, background) >= 4.5,
             qPrintable(QString::number(contrast(text, background))));
  }

  void contrastIsThatOfWcag() {
    QCOMPARE(contrast(Qt::black, Qt::white), 21.0);
    QCOMPARE(contrast(Qt::white, Qt::white), 1.0);
    QVERIFY(std::abs(contrast(QColor("#767676"), Qt::white) - 4.54) < 0.01);
  }

  void runsAreSeenAndToldApart() {
    for (const Scheme scheme : {Scheme::dark, Scheme::light}) {
      QSet<QRgb> colors;
      QSet<QPair<QRgb, int>> strokes;
      for (int slot = 0; slot < kRunColors * kRunMarkers; ++slot) {
        const RunStroke stroke = runStroke(slot, scheme);
        QVERIFY2(contrast(stroke.color, colorsOf(scheme).surface) >= 3,
                 qPrintable(stroke.color.name()));
        QVERIFY(!markerPath(stroke.marker).isEmpty());
        strokes.insert({stroke.color.rgb(), stroke.marker});
        if (slot < kRunColors) colors.insert(stroke.color.rgb());
      }
      QCOMPARE(colors.size(), kRunColors);
      QCOMPARE(strokes.size(), kRunColors * kRunMarkers);
      QCOMPARE(runStroke(kRunColors, scheme).color, runStroke(0, scheme).color);
    }
  }

  void runsKeepTheirColour() {
    RunSlots known;
    QCOMPARE(known.of({41, 52, 63}), QList<int>({0, 1, 2}));
    QCOMPARE(known.of({63, 52}), QList<int>({2, 1}));  // in any order
    QCOMPARE(known.of({63, 74, 52}), QList<int>({2, 0, 1}));
    QCOMPARE(known.of({41, 74}), QList<int>({0, 1}));  // both had slot 0
    QList<qint64> many;
    for (qint64 run = 100; run < 140; ++run) many.append(run);
    const QList<int> found = known.of(many);
    QCOMPARE(QSet<int>(found.begin(), found.end()).size(), many.size());
  }

  void ownFontsAreUsed() {
    QCOMPARE(QFontInfo(font::text()).family(), QStringLiteral("Inter"));
    QCOMPARE(QFontInfo(font::mono()).family(), QStringLiteral("JetBrains Mono"));
    QVERIFY(QFontInfo(font::mono()).fixedPitch());
  }

  void switchingTells() {
    QSignalSpy changed(&Theme::instance(), &Theme::changed);
    Theme::instance().setMode(Theme::Mode::light);
    QCOMPARE(changed.count(), 1);
    QCOMPARE(colors().surface, QColor("#ffffff"));
    QCOMPARE(qApp->palette().color(QPalette::Window), QColor("#f5f6f8"));
    QVERIFY(qApp->styleSheet().contains(QStringLiteral("#1f62d8")));
    QVERIFY2(!qApp->styleSheet().contains(QChar('@')), "a token without a value");
    Theme::instance().setMode(Theme::Mode::dark);
    QCOMPARE(changed.count(), 2);
  }

  void iconsFollowTheTheme() {
    const auto colorIn = [](const QImage& image) {
      for (int y = 0; y < image.height(); ++y)
        for (int x = 0; x < image.width(); ++x)
          if (qAlpha(image.pixel(x, y)) == 255) return image.pixelColor(x, y);
      return QColor();
    };
    const QIcon stop = icon(QStringLiteral("stopped"));
    QCOMPARE(colorIn(stop.pixmap(64).toImage()), colorsOf(Scheme::dark).text);
    Theme::instance().setMode(Theme::Mode::light);
    QCOMPARE(colorIn(stop.pixmap(64).toImage()), colorsOf(Scheme::light).text);
    Theme::instance().setMode(Theme::Mode::dark);
  }

  void numbersHaveUnits_data() {
    QTest::addColumn<QString>("text");
    QTest::addColumn<QString>("expected");
    QTest::newRow("bytes") << format::bytes(0) << "0 B";
    QTest::newRow("MiB") << format::bytes(832.0 * 1024 * 1024) << "832 MiB";
    QTest::newRow("GiB") << format::bytes(61.2 * 1024 * 1024 * 1024) << "61.2 GiB";
    QTest::newRow("just below") << format::bytes(1023.0 * 1024) << "1.00 MiB";
    QTest::newRow("count") << format::count(1234567) << "1,234,567";
    QTest::newRow("parameters") << format::shortCount(8030261248.0) << "8.03 B";
    QTest::newRow("seconds") << format::seconds(4.5) << "4.50 s";
    QTest::newRow("ms") << format::seconds(0.708) << "708 ms";
    QTest::newRow("rounds up") << format::seconds(0.99996) << "1.00 s";
    QTest::newRow("minutes") << format::seconds(1530) << "25.5 min";
    QTest::newRow("hours") << format::seconds(8316) << "2.31 h";
    QTest::newRow("negative") << format::seconds(-0.02) << "-20.0 ms";
    QTest::newRow("nan") << format::seconds(NAN) << "NaN";
    QTest::newRow("percent") << format::percent(0.4118) << "41.2 %";
    QTest::newRow("rate") << format::tokensPerSecond(6667.2) << "6,667 tok/s";
    QTest::newRow("slow rate") << format::tokensPerSecond(12.34) << "12.3 tok/s";
    QTest::newRow("slower rate") << format::tokensPerSecond(0.1234) << "0.123 tok/s";
    QTest::newRow("slowest rate") << format::tokensPerSecond(3.034e-4) << "3.03e-4 tok/s";
    QTest::newRow("loss") << format::loss(3.98146) << "3.981";
    QTest::newRow("nan loss") << format::loss(NAN) << "NaN";
    QTest::newRow("infinite loss") << format::loss(INFINITY) << "∞";
    QTest::newRow("minus infinity") << format::significant(-INFINITY) << "−∞";
    QTest::newRow("infinite memory") << format::bytes(INFINITY) << "∞";
    QTest::newRow("loss of a tenth") << format::loss(0.9876) << "0.988";
    QTest::newRow("small loss") << format::loss(0.0412) << "0.0412";
    QTest::newRow("smaller loss") << format::loss(4.026e-4) << "0.000403";
    QTest::newRow("tiny loss") << format::loss(4.126e-5) << "4.13e-5";
    QTest::newRow("negative tiny loss") << format::loss(-4.126e-5) << "-4.13e-5";
    QTest::newRow("loss that rounds up") << format::loss(0.00999996) << "0.0100";
    QTest::newRow("no loss at all") << format::loss(-0.0) << "0.000";
    QTest::newRow("huge loss") << format::loss(1.23456e9) << "1.235e9";
    QTest::newRow("name in lines") << format::spelled("line\nbreak\ttab") << "line\\nbreak\\ttab";
    QTest::newRow("turned name") << format::spelled("rtl-\u202egnp.exe") << "rtl-\\u202egnp.exe";
    QTest::newRow("long name") << format::shortName(std::string(200, 'x') + "-last")
                               << QString(31, 'x') + "…" + "xxxxxxxxxxx-last";
    QTest::newRow("small") << format::significant(0.0003) << "3.00e-4";
    QTest::newRow("plain") << format::significant(4.111) << "4.11";
    QTest::newRow("signed") << format::signedValue("708 ms", true) << "−708 ms";
    QTest::newRow("one") << format::plural(1, counted::kRank) << "1 rank";
    QTest::newRow("many") << format::plural(1024, counted::kRank) << "1,024 ranks";
  }

  // Polish has three forms, for numbers of any size.
  void countedNounsHaveTheFormsOfALanguage() {
    class Polish : public QTranslator {
     public:
      QString translate(const char* context, const char* source, const char*,
                        int number) const override {
        if (QLatin1String(context) != QLatin1String("counted") ||
            QLatin1String(source) != QLatin1String("%1 run(s)"))
          return {};
        const int unit = number % 10, tens = number / 10 % 10;
        if (number == 1) return QStringLiteral("%1 przebieg");
        return unit >= 2 && unit <= 4 && tens != 1 ? QStringLiteral("%1 przebiegi")
                                                   : QStringLiteral("%1 przebiegów");
      }
      bool isEmpty() const override { return false; }
    } polish;
    QVERIFY(QCoreApplication::installTranslator(&polish));
    QCOMPARE(format::plural(1, counted::kRun), QString("1 przebieg"));
    QCOMPARE(format::plural(3, counted::kRun), QString("3 przebiegi"));
    QCOMPARE(format::plural(5'000'000'012, counted::kRun), QString("5,000,000,012 przebiegów"));
    QCOMPARE(format::plural(5'000'000'001, counted::kRun), QString("5,000,000,001 przebiegów"));
    QCOMPARE(format::plural(2, counted::kRow), QString("2 rows"));  // no translation
    QVERIFY(QCoreApplication::removeTranslator(&polish));
    QCOMPARE(format::plural(5'000'000'001, counted::kRun), QString("5,000,000,001 runs"));
    QCOMPARE(format::plural(0, counted::kFinishedRun), QString("0 finished runs"));
  }

  void numbersHaveUnits() {
    QFETCH(QString, text);
    QFETCH(QString, expected);
    QCOMPARE(text, expected);
  }

  void timesAreAsPeopleSayThem() {
    const QDateTime now(QDate(2025, 11, 19), QTime(14, 30));
    QCOMPARE(format::when(now.addSecs(-20), now), QStringLiteral("now"));
    QCOMPARE(format::when(now.addSecs(-17 * 60), now), QStringLiteral("17 min ago"));
    QCOMPARE(format::when(now.addSecs(-5 * 3600), now), QStringLiteral("today 09:30"));
    QCOMPARE(format::when(now.addDays(-1), now), QStringLiteral("yesterday"));
    QCOMPARE(format::when(now.addDays(-5), now), QStringLiteral("14 Nov"));
    QCOMPARE(format::when(now.addYears(-1), now), QStringLiteral("19 Nov 2024"));
  }
};

HEDDLE_WIDGET_TEST(ThemeTest)
#include "theme_test.moc"
