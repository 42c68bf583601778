#include <fmt/format.h>

#include "workbench/commands/format.h"
#include "workbench/report/report.h"
#include "workbench/report/report_document.h"

namespace heddle::workbench {
namespace {

// No script runs and nothing is fetched, whatever a name holds.
constexpr const char* kHtmlHead = R"(<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; img-src data:; style-src 'unsafe-inline'">
<title>{}</title>
<style>
body {{ font: 14px/1.5 Inter, system-ui, sans-serif; color: #1a1e26; background: #f5f6f8; margin: 0; }}
main {{ max-width: 1000px; margin: 24px auto; padding: 0 24px; }}
section {{ background: #fff; border: 1px solid #d9dee6; border-radius: 6px; padding: 16px; margin: 16px 0; }}
h1 {{ font-size: 22px; font-weight: 600; margin: 0; overflow-wrap: anywhere; }}
h2 {{ font-size: 16px; font-weight: 600; margin: 0 0 8px; overflow-wrap: anywhere; }}
h3 {{ font-size: 13px; font-weight: 600; margin: 12px 0 4px; color: #586274; }}
p {{ margin: 4px 0 8px; color: #586274; overflow-wrap: anywhere; }}
.scroll {{ overflow-x: auto; }}
table {{ border-collapse: collapse; font-size: 12px; width: max-content; }}
th, td {{ text-align: right; padding: 4px 10px; border-bottom: 1px solid #eef1f5; vertical-align: top; }}
th {{ color: #586274; font-weight: 600; }}
td {{ font-family: "JetBrains Mono", ui-monospace, monospace; max-width: 320px; overflow-wrap: break-word; }}
.words th, .words td {{ text-align: left; }}
th:first-child, td:first-child {{ text-align: left; position: sticky; left: 0; background: #fff; }}
.best {{ font-weight: 700; color: #14703c; }}
.change {{ display: block; color: #586274; font-size: 11px; }}
.better {{ color: #14703c; }}
.worse {{ color: #a82a24; }}
img {{ max-width: 100%; height: auto; display: block; }}
footer {{ color: #586274; font-size: 12px; }}
@media print {{ body {{ background: #fff; }} section {{ break-inside: avoid; }} }}
</style>
</head>
<body>
<main>
<h1>{}</h1>
<p>{}</p>
)";

std::string cell_html(const ReportCell& cell) {
  std::string html = "<td>";
  html += cell.best ? fmt::format(R"(<span class="best">✓ {}</span>)", escaped(cell.text))
                    : escaped(cell.text);
  if (!cell.change.empty()) {
    const char* kind = cell.better > 0 ? " better" : cell.better < 0 ? " worse" : "";
    const char* arrow = cell.better > 0 ? "▲ " : cell.better < 0 ? "▼ " : "";
    html += fmt::format(R"(<span class="change{}">{}{}</span>)", kind, arrow, escaped(cell.change));
  }
  return html + "</td>";
}

std::string table_html(const ReportTable& table) {
  std::string html = fmt::format("<div class=\"scroll\"><table{}>\n<thead><tr>",
                                 table.of_words ? " class=\"words\"" : "");
  for (const std::string& head : table.heads) html += "<th>" + escaped(head) + "</th>";
  html += "</tr></thead>\n<tbody>\n";
  for (const auto& row : table.rows) {
    html += "<tr>";
    for (const ReportCell& cell : row) html += cell_html(cell);
    html += "</tr>\n";
  }
  return html + "</tbody></table></div>\n";
}

std::string section_html(const ReportSection& section) {
  std::string html = "<section>\n<h2>" + escaped(section.title) + "</h2>\n";
  for (const std::string& words : section.words) html += "<p>" + escaped(words) + "</p>\n";
  for (const ReportPicture& picture : section.pictures)
    html += fmt::format("<h3>{0}</h3>\n<img alt=\"{0}\" width=\"{1}\" src=\"{2}\">\n",
                        escaped(picture.title), picture.svg.width(), picture.svg.data_uri());
  if (!section.table.empty()) html += table_html(section.table);
  return html + "</section>\n";
}

}  // namespace

std::string html_report(const Report& report) {
  const std::string title = escaped(title_of(report));
  std::string html =
      fmt::format(fmt::runtime(kHtmlHead), title, title,
                  fmt::format("{} compared, {}. ▲ better than the baseline, ▼ worse.",
                              report.comparison.runs.size() == 1
                                  ? "1 run"
                                  : fmt::format("{} runs", report.comparison.runs.size()),
                              time_text(report.made)));
  for (const ReportSection& section : sections_of(report)) html += section_html(section);
  return html + "<footer>Made with Heddle</footer>\n</main>\n</body>\n</html>\n";
}

}  // namespace heddle::workbench
