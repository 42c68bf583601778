// Ends and alerts of runs since the last look, of all runs that go on. Plain data; read on the
// session's reading thread.
#pragma once

#include <QString>
#include <map>
#include <vector>

#include "base/result.h"
#include "gui/theme/icons.h"
#include "storage/queries.h"

namespace heddle::gui {

struct RunNews {
  enum class Kind { alert, end, failure };
  storage::RunId run = 0;
  Kind kind = Kind::end;
  QString title;  // "night: loss spike", "night failed"
  QString text;
  Tone tone = Tone::text;
};

/// How far a reader has read: the runs that went on, and the last line of each.
struct NewsCursor {
  bool begun = false;  // the first look brings no news
  std::map<storage::RunId, int64_t> lines;
};

struct NewsUpdate {
  NewsCursor cursor;
  std::vector<RunNews> news;
};
Result<NewsUpdate> readNews(storage::Reader& reader, const NewsCursor& cursor);

}  // namespace heddle::gui
