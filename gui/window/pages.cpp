#include "gui/window/pages.h"

#include "gui/views/compare/compare_page.h"
#include "gui/views/compose/compose_page.h"
#include "gui/views/launch/launch_page.h"
#include "gui/views/live/live_page.h"
#include "gui/views/runs/runs_page.h"
#include "gui/views/targets/targets_page.h"
#include "gui/views/welcome/welcome_page.h"

namespace heddle::gui {
namespace {

template <typename SomePage>
Page* makePage(Session& session, QWidget* parent) {
  return new SomePage(session, parent);
}

}  // namespace

const std::vector<PageEntry>& pages() {
  static const std::vector<PageEntry> all{
      {"compose", QT_TRANSLATE_NOOP("Pages", "Compose"), "compose", Qt::Key_1,
       QT_TRANSLATE_NOOP(
           "Pages",
           "A recipe says what to train and how. Change it as a form, as a picture of the model "
           "or as text: all three are one. At the right, memory, speed and a timeline are "
           "predicted for the hardware that it names, before anything runs. Launch when it fits."),
       makePage<ComposePage>},
      {"launch", QT_TRANSLATE_NOOP("Pages", "Launch"), "launch", Qt::Key_2,
       QT_TRANSLATE_NOOP(
           "Pages",
           "Choose a recipe, a target and a name. What would fail there is listed before the "
           "start, with what to do about it. Then the steps are shown until the run trains."),
       makePage<LaunchPage>},
      {"live", QT_TRANSLATE_NOOP("Pages", "Live"), "live", Qt::Key_3,
       QT_TRANSLATE_NOOP(
           "Pages",
           "One run as it trains, or as it was: numbers, curves, where each rank's time went in "
           "the profiled steps, and its log. Choose another run in the bar above. Here it is "
           "stopped, killed, resumed and forked. Alerts of a run are in the banner until they are "
           "over, and in its log."),
       makePage<LivePage>},
      {"runs", QT_TRANSLATE_NOOP("Pages", "Runs"), "runs", Qt::Key_4,
       QT_TRANSLATE_NOOP(
           "Pages",
           "All runs of the store. Filter them by words or by a condition such as “lr > 1e-4 and "
           "state is done”, sort by a click on a column, tick some and compare them. Runs made "
           "elsewhere are imported with the button, or dropped here."),
       makePage<RunsPage>},
      {"compare", QT_TRANSLATE_NOOP("Pages", "Compare"), "compare", Qt::Key_5,
       QT_TRANSLATE_NOOP(
           "Pages",
           "Runs side by side: the keys in which they differ, curves, memory, and the timelines "
           "of their steps with the difference node by node. Numbers can be shown as differences "
           "from the baseline."),
       makePage<ComparePage>},
      {"targets", QT_TRANSLATE_NOOP("Pages", "Targets"), "targets", Qt::Key_6,
       QT_TRANSLATE_NOOP(
           "Pages",
           "The machines that runs can be sent to: this one, and hosts reached by SSH. A probe "
           "finds out what a host has and what it lacks for a run."),
       makePage<TargetsPage>},
      {"welcome", QT_TRANSLATE_NOOP("Pages", "Welcome"), "heddle", Qt::Key_0,
       QT_TRANSLATE_NOOP("Pages",
                         "Four ways to begin. The tour points at three places of the window; "
                         "Escape leaves it."),
       makePage<WelcomePage>, false},
  };
  return all;
}

}  // namespace heddle::gui
