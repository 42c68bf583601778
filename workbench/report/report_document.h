// A report as sections of words, tables and pictures, before it has a format. All text is as it
// came: whoever writes it escapes it.
#pragma once

#include <string>
#include <vector>

#include "workbench/report/report_data.h"
#include "workbench/report/svg.h"

namespace heddle::workbench {

struct ReportCell {
  std::string text;
  std::string change = {};  // from the baseline: "+1.90 GiB"; empty: none to tell
  int better = 0;           // the change: 1 better, -1 worse, 0 neither
  bool best = false;
};

struct ReportTable {
  std::vector<std::string> heads;
  std::vector<std::vector<ReportCell>> rows;
  bool of_words = false;  // rather than of figures
  bool empty() const { return rows.empty(); }
};

struct ReportPicture {
  std::string title;
  Svg svg;
};

struct ReportSection {
  std::string title;
  std::vector<std::string> words = {};
  ReportTable table = {};
  std::vector<ReportPicture> pictures = {};
};

std::string title_of(const Report& report);
std::vector<ReportSection> sections_of(const Report& report);

}  // namespace heddle::workbench
