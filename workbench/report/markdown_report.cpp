#include <fmt/format.h>

#include "base/one_line.h"
#include "workbench/commands/format.h"
#include "workbench/report/report.h"
#include "workbench/report/report_document.h"

namespace heddle::workbench {
namespace {

/// Text wherever it is put: all that Markdown or the HTML in it gives a meaning has a backslash or
/// is spelled out.
std::string marked(const std::string& text) {
  std::string out;
  for (const char c : one_line(text)) {
    if (c == '<')
      out += "&lt;";
    else if (c == '>')
      out += "&gt;";
    else if (c == '&')
      out += "&amp;";
    else if (std::string_view("\\`*_{}[]()#+-.!|~$:@").find(c) != std::string_view::npos)
      (out += '\\') += c;
    else
      out += c;
  }
  return out;
}

std::string cell_text(const ReportCell& cell) {
  std::string text = cell.best ? fmt::format("**{}**", marked(cell.text)) : marked(cell.text);
  if (cell.change.empty()) return text;
  const char* arrow = cell.better > 0 ? "▲ " : cell.better < 0 ? "▼ " : "";
  return fmt::format("{}{}{}{}", text, text.empty() ? "" : " ", arrow, marked(cell.change));
}

std::string table_text(const ReportTable& table) {
  std::string text = "|";
  for (const std::string& head : table.heads) text += " " + marked(head) + " |";
  text += "\n|";
  for (size_t i = 0; i < table.heads.size(); ++i)
    text += i == 0 || table.of_words ? " --- |" : " ---: |";
  text += "\n";
  for (const auto& row : table.rows) {
    text += "|";
    for (const ReportCell& cell : row) text += " " + cell_text(cell) + " |";
    text += "\n";
  }
  return text;
}

}  // namespace

std::string markdown_report(const Report& report) {
  std::string text = fmt::format(
      "# {}\n\n{} compared, {}. ▲ better than the baseline, ▼ worse.\n", marked(title_of(report)),
      report.comparison.runs.size() == 1 ? "1 run"
                                         : fmt::format("{} runs", report.comparison.runs.size()),
      marked(time_text(report.made)));
  for (const ReportSection& section : sections_of(report)) {
    if (section.table.empty()) continue;
    text += fmt::format("\n## {}\n\n", marked(section.title));
    for (const std::string& words : section.words) text += marked(words) + "\n\n";
    text += table_text(section.table);
  }
  return text + "\nMade with Heddle\n";
}

}  // namespace heddle::workbench
