// A report as a file: one of HTML that needs nothing else, or of Markdown.
#pragma once

#include <string>

#include "workbench/report/report_data.h"

namespace heddle::workbench {

/// Pictures are inside, as data URIs; nothing runs and nothing is fetched when it is opened.
std::string html_report(const Report& report);
/// Tables and words; pictures are left out, as readers of Markdown show none that are inside.
std::string markdown_report(const Report& report);

/// Ends in .html, .htm or .md.
bool is_report_name(const std::string& path);
/// Reads what the report shows and writes it; an error begins with the path where that is at fault.
Result<> write_report(storage::Reader& reader, const ReportQuery& query, const std::string& path);

}  // namespace heddle::workbench
