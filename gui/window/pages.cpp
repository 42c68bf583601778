#include "gui/window/pages.h"

#include "gui/views/compare/compare_page.h"
#include "gui/views/compose/compose_page.h"
#include "gui/views/launch/launch_page.h"
#include "gui/views/live/live_page.h"
#include "gui/views/runs/runs_page.h"
#include "gui/views/targets/targets_page.h"

namespace heddle::gui {
namespace {

template <typename SomePage>
Page* makePage(Session& session) {
  return new SomePage(session);
}

}  // namespace

const std::vector<PageEntry>& pages() {
  static const std::vector<PageEntry> all{
      {"compose", QT_TRANSLATE_NOOP("Pages", "Compose"), "compose", Qt::Key_1,
       makePage<ComposePage>},
      {"launch", QT_TRANSLATE_NOOP("Pages", "Launch"), "launch", Qt::Key_2, makePage<LaunchPage>},
      {"live", QT_TRANSLATE_NOOP("Pages", "Live"), "live", Qt::Key_3, makePage<LivePage>},
      {"runs", QT_TRANSLATE_NOOP("Pages", "Runs"), "runs", Qt::Key_4, makePage<RunsPage>},
      {"compare", QT_TRANSLATE_NOOP("Pages", "Compare"), "compare", Qt::Key_5,
       makePage<ComparePage>},
      {"targets", QT_TRANSLATE_NOOP("Pages", "Targets"), "targets", Qt::Key_6,
       makePage<TargetsPage>},
  };
  return all;
}

}  // namespace heddle::gui
