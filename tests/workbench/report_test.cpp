// A comparison as one file: all parts are there, and names and notes from outside stay text.
#include "workbench/report/report.h"

#include <fmt/format.h>

#include <QTemporaryDir>
#include <QXmlStreamReader>
#include <QtTest>

#include "base/number_text.h"
#include "storage/writer.h"
#include "tests/support/results.h"
#include "tests/support/test_class.h"
#include "workbench/report/curve_picture.h"
#include "workbench/report/report_document.h"
#include "workbench/report/run_look.h"

using namespace heddle;
using namespace heddle::workbench;
using telemetry::Span;

namespace {

constexpr const char* kHostile = "x\"><script>alert(1)</script><img src=y onerror=z>|`**\n# a";

std::vector<Span> spans_of(bool hidden) {
  const int64_t late = hidden ? 0 : 30'000;
  return {{"all_gather", "layers.0", 0, 10'000, 1, 0, 0},
          {"mm", "layers.0.wq", 10'000, 40'000, 0, 0, 2},
          {"all_gather", "layers.1", hidden ? 15'000 : 50'000, 30'000, 1, 0, 1},
          {"mm", "layers.1.wq", 50'000 + late, 40'000, 0, 0, 4}};
}

storage::RunId add_run(storage::Writer& writer, const std::string& name, bool hidden) {
  storage::NewRun run;
  run.name = name;
  run.recipe_name = kHostile;
  run.target = kHostile;
  run.recipe_values = {{"optimizer.lr", hidden ? "1e-3" : "3e-3"}, {"model.dim", "64"}};
  const storage::RunId id = must(writer.create_run(run)).id;
  std::vector<telemetry::Record> records{telemetry::Start{
      1e9, 0, 1, "planned", {{"host", hidden ? std::string("loom") : kHostile}}, {}}};
  records.emplace_back(telemetry::Spans{5, 1e9, spans_of(hidden)});
  for (int64_t step = 1; step <= 40; ++step)
    records.emplace_back(
        telemetry::Step{step,
                        1e9 + static_cast<double>(step),
                        {{"loss", 4.0 / static_cast<double>(step) + (hidden ? 0 : 0.5)},
                         {"step_seconds", hidden ? 0.09 : 0.125},
                         {"tokens_per_second", hidden ? 1000.0 : 800.0}}});
  records.emplace_back(
      telemetry::End{1e9 + 50, "done", "", {{"peak_bytes", hidden ? 2e9 : 1e9}, {"loss", 3}}});
  std::string log;
  uint64_t seq = 0;
  for (const auto& record : records) log += must(telemetry::encode(record, seq++));
  must(writer.ingest(id, 0, 0, 0, log));
  must(writer.set_notes(id, kHostile));
  must(writer.change_tags(id, {kHostile}));
  return id;
}

/// The text between the first `from` and the next `to`.
QString between(const QString& text, const QString& from, const QString& to) {
  const qsizetype begin = text.indexOf(from) + from.size();
  return text.mid(begin, text.indexOf(to, begin) - begin);
}

}  // namespace

class ReportTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void initTestCase() {
    store_ = folder_.filePath("runs.sqlite").toStdString();
    auto writer = must(storage::Writer::open(store_));
    must(writer->take_lease());
    query_.runs = {add_run(*writer, "hidden", true), add_run(*writer, "exposed & <late>", false)};
    writer.reset();
    auto reader = must(storage::Reader::open(store_));
    report_ = must(read_report(reader, query_));
  }

  void all_parts_are_there() {
    QStringList titles;
    for (const ReportSection& section : sections_of(report_))
      titles << QString::fromStdString(section.title);
    QCOMPARE(titles, (QStringList{"Runs", "What differs", "Curves", "Where a step's time went",
                                  "Where the steps of 1  hidden and 2  exposed & <late> differ"}));
    const QString html = QString::fromStdString(html_report(report_));
    QCOMPARE(html.count("<img "), 4);  // loss, its difference, throughput, timelines
    QCOMPARE(html.count("src=\"data:image/svg+xml;base64,"), 4);
    QVERIFY(html.contains("optimizer.lr"));
    QVERIFY(!html.contains("model.dim"));  // it does not differ
    QVERIFY(html.contains("−953 MiB") || html.contains("−954 MiB"));
  }

  // As on the Compare page.
  void charts_colours_and_groups_follow_the_query() {
    auto reader = must(storage::Reader::open(store_));
    ReportQuery asked = query_;
    asked.charts = {{.metric = "tokens_per_second", .x = "time"},
                    {.metric = "loss", .difference = true},
                    {.metric = "grad_norm"}};  // a metric that no run has
    asked.colors = {{asked.runs[0], "#123456"}};
    asked.colored_by = "optimizer.lr";
    asked.groups = {{asked.runs[1], "sweep <a>"}};
    const Report report = must(read_report(reader, asked));
    QCOMPARE(report.charts.size(), size_t(2));
    QCOMPARE(report.charts[0].of.metric, std::string("tokens_per_second"));
    QCOMPARE(report.charts[0].curves[0].front().first, 0.0);  // seconds since the first step
    QCOMPARE(report.charts[0].curves[0].back().first, 39.0);
    QVERIFY(report.charts[1].curves[0].empty());  // the baseline's own
    QVERIFY(report.charts[1].curves[1].empty());  // in its group's mean
    QCOMPARE(report.charts[1].bands.size(), size_t(1));
    QCOMPARE(report.charts[1].bands[0].mean.back().second, 0.5);
    const QString text = QString::fromStdString(markdown_report(report));
    QVERIFY(text.contains("| group |"));
    const QString html = QString::fromStdString(html_report(report));
    QVERIFY(html.contains("over time"));
    QVERIFY(html.contains("Colours are by optimizer.lr."));
    QVERIFY(html.contains("sweep &lt;a&gt;"));
    // Both in one group: a mean between the two, 0.5 apart.
    asked.charts = {{.metric = "loss", .smoothing = 0}};
    asked.groups = {{asked.runs[0], "both"}, {asked.runs[1], "both"}};
    const Report grouped = must(read_report(reader, asked));
    const ReportChart& loss = grouped.charts.front();
    QVERIFY(loss.curves[0].empty() && loss.curves[1].empty());
    QCOMPARE(loss.bands.size(), size_t(1));
    QCOMPARE(loss.bands[0].mean.back().second, 0.35);
    QCOMPARE(loss.bands[0].low.back().second, 0.1);
    QCOMPARE(loss.bands[0].high.back().second, 0.6);
    QVERIFY(curve_picture(grouped, loss).document().find(">both<") != std::string::npos);
    // Curves that end at one place have both numbers there.
    Report same = report;
    same.charts[0].curves[1] = same.charts[0].curves[0];
    const std::string ends = curve_picture(same, same.charts[0]).document();
    QVERIFY(ends.find(">1<") != std::string::npos && ends.find(">2<") != std::string::npos);
    const Svg picture = curve_picture(report, report.charts[0]);
    QVERIFY(picture.document().find("#123456") != std::string::npos);
    QVERIFY(picture.document().find(run_color(report.comparison.runs[1], 1)) != std::string::npos);
  }

  // Every sample counts, also where the picture has fewer points.
  void curves_are_smoothed_and_faint_behind() {
    auto reader = must(storage::Reader::open(store_));
    ReportQuery asked = query_;
    asked.charts = {{.metric = "loss", .smoothing = 5}, {.metric = "loss", .smoothing = 0}};
    const Report report = must(read_report(reader, asked));
    const ReportChart& smoothed = report.charts[0];
    Ema ema{.half_life = 5};
    for (int step = 1; step <= 40; ++step) ema.take(step, 4.0 / step);
    QCOMPARE(smoothed.smooth[0].size(), smoothed.curves[0].size());
    QCOMPARE(smoothed.smooth[0].back(), std::pair(40.0, ema.average()));
    QCOMPARE(smoothed.curves[0].back(), std::pair(40.0, 0.1));
    QVERIFY(report.charts[1].smooth[0].empty());
    const std::string faint = "stroke-opacity";
    QVERIFY(curve_picture(report, smoothed).document().find(faint) != std::string::npos);
    QVERIFY(curve_picture(report, report.charts[1]).document().find(faint) == std::string::npos);
    QVERIFY(html_report(report).find("smoothed (half-life in steps: 5)") != std::string::npos);
  }

  // Compute, exposed, bubble and idle are the step; the rows' differences are the steps'.
  void sums_agree() {
    QCOMPARE(report_.steps.size(), size_t(2));
    for (const ReportStep& step : report_.steps) QCOMPARE(step.spent.total(), step.side.step_us);
    const ReportAlignment& aligned = report_.alignments.front();
    int64_t exposed = 0;
    for (const Row& row : aligned.buckets)
      exposed += row.right[Part::exposed] - row.left[Part::exposed];
    QCOMPARE(exposed,
             report_.steps[1].spent[Part::exposed] - report_.steps[0].spent[Part::exposed]);
  }

  void a_run_has_the_colour_that_a_person_gave_it() {
    storage::RunSummary run;
    run.color = "#12ab34";
    QCOMPARE(run_color(run, 1), std::string("#12ab34"));
    run.color = "#12ab34 square";
    QCOMPARE(run_color(run, 1), std::string("#12ab34"));
    run.color = "#ffffff";
    QCOMPARE(run_color(run, 1), std::string("#888888"));  // visible on paper
    for (const char* none : {"", "red", "square"}) {
      run.color = none;
      QCOMPARE(run_color(run, 1), std::string("#d55e00"));
    }
  }

  // Nothing from outside becomes markup, in the page or in a picture.
  void names_stay_text() {
    const QString html = QString::fromStdString(html_report(report_));
    QVERIFY(!html.contains("<script", Qt::CaseInsensitive));
    QVERIFY(!html.contains("onerror=z>"));
    QVERIFY(html.contains("&lt;script&gt;alert(1)"));
    QVERIFY(html.contains("exposed &amp; &lt;late&gt;"));
    QVERIFY(html.contains("default-src 'none'"));
    for (qsizetype at = html.indexOf("base64,"); at >= 0; at = html.indexOf("base64,", at + 1)) {
      const QByteArray svg =
          QByteArray::fromBase64(between(html.mid(at), "base64,", "\"").toLatin1());
      QXmlStreamReader xml(svg);
      QSet<QString> elements;
      while (!xml.atEnd())
        if (xml.readNext() == QXmlStreamReader::StartElement)
          elements.insert(xml.name().toString());
      QVERIFY2(!xml.hasError(), qPrintable(xml.errorString()));
      elements -= {"svg", "rect", "line", "polyline", "polygon", "text"};
      QVERIFY2(elements.isEmpty(), qPrintable(elements.values().join(' ')));
    }
  }

  // Every row of a table has as many cells as its head: a name does not end one.
  void markdown_tables_keep_their_columns() {
    const QString text = QString::fromStdString(markdown_report(report_));
    QVERIFY(!text.contains("<script"));
    const auto cells = [](const QString& line) {
      QString rest = line;
      return rest.remove("\\|").count('|');
    };
    int head = 0, rows = 0;
    for (const QString& line : text.split('\n')) {
      if (!line.startsWith('|')) {
        head = 0;
        QVERIFY(!line.startsWith("# a"));
        continue;
      }
      if (head == 0) head = static_cast<int>(cells(line));
      QCOMPARE(static_cast<int>(cells(line)), head);
      ++rows;
    }
    QVERIFY(rows > 10);
  }

  void ticks_differ_and_end_without_zeroes() {
    const auto loss = [](double tick, int more) { return fmt::format("{:.{}f}", tick, 3 + more); };
    const std::vector<std::string> round = {"4", "5", "6"}, fine = {"4.0001", "4.0002"};
    QCOMPARE(tick_texts({4, 5, 6}, loss), round);
    QCOMPARE(tick_texts({4.0001, 4.0002}, loss), fine);
    const auto bytes = [](double tick, int more) { return bytes_text(tick, more); };
    const double half = 0.5 * (1 << 20);
    const std::vector<std::string> memory = {"584.0 MiB", "584.5 MiB", "585.0 MiB"};
    QCOMPARE(tick_texts({1168 * half, 1169 * half, 1170 * half}, bytes), memory);
    const auto time = [](double tick, int more) { return seconds_text(tick, more); };
    const std::vector<std::string> seconds = {"5 s", "10 s"};
    QCOMPARE(tick_texts({5, 10}, time), seconds);
  }

  void many_runs_are_rows() {
    Report many = report_;
    while (many.comparison.runs.size() < 50) {
      many.comparison.runs.push_back(many.comparison.runs.front());
      for (auto* part :
           {&many.comparison.recipe, &many.comparison.environment, &many.comparison.results})
        for (storage::Compared& row : *part) row.values.push_back(row.values.front());
      for (ReportChart& chart : many.charts) {
        chart.curves.push_back(chart.curves.front());
        chart.smooth.push_back(chart.smooth.front());
      }
      many.memory.emplace_back();
      many.colors.push_back(many.colors.front());
    }
    for (const ReportSection& section : sections_of(many))
      if (section.title == "What differs") {
        QCOMPARE(section.table.rows.size(), size_t(50));
        QCOMPARE(section.table.heads.front(), std::string("run"));
      }
  }

  void a_file_is_whole_or_not_there() {
    auto reader = must(storage::Reader::open(store_));
    const std::string good = folder_.filePath("report.html").toStdString();
    VERIFY_RESULT(write_report(reader, query_, good));
    QFile file(QString::fromStdString(good));
    QVERIFY(file.open(QIODevice::ReadOnly));
    QVERIFY(file.readAll().trimmed().endsWith("</html>"));
    const auto refused = write_report(reader, query_, folder_.filePath("report.pdf").toStdString());
    QVERIFY(!refused && refused.error().message.ends_with("a report's name ends in .html or .md"));
    const auto nowhere =
        write_report(reader, query_, folder_.filePath("none/report.md").toStdString());
    QVERIFY(!nowhere);
    QCOMPARE(QDir(folder_.path()).entryList({"report*"}), QStringList{"report.html"});
  }

 private:
  QTemporaryDir folder_;
  std::string store_;
  ReportQuery query_;
  Report report_;
};

HEDDLE_TEST(ReportTest)
#include "report_test.moc"
