#include "workbench/report/report.h"

#include <algorithm>
#include <cctype>

#include "base/durable_file.h"

namespace heddle::workbench {
namespace {

std::string lower_ending(const std::string& path) {
  const size_t dot = path.rfind('.');
  std::string ending = dot == std::string::npos ? "" : path.substr(dot);
  std::ranges::transform(ending, ending.begin(), [](unsigned char c) { return std::tolower(c); });
  return ending;
}

bool is_html(const std::string& path) {
  const std::string ending = lower_ending(path);
  return ending == ".html" || ending == ".htm";
}

}  // namespace

bool is_report_name(const std::string& path) {
  return is_html(path) || lower_ending(path) == ".md";
}

Result<> write_report(storage::Reader& reader, const ReportQuery& query, const std::string& path) {
  if (!is_report_name(path)) return fail("{}: a report's name ends in .html or .md", path);
  const auto report = read_report(reader, query);
  if (!report) return fail(report);
  auto file = NewFile::create(path, kReadable);
  if (!file) return fail(file);
  const auto written = file->write(is_html(path) ? html_report(*report) : markdown_report(*report));
  if (!written) return fail(written);
  return file->take_place();
}

}  // namespace heddle::workbench
