// compose_bench [RECIPE]: how soon an edit in Compose shows in the prediction, and the longest time
// that any event held the window meanwhile: median and most of 20 edits, in milliseconds. Runs on
// the display there is, or with QT_QPA_PLATFORM=offscreen.
#include <fmt/format.h>

#include <QApplication>
#include <QElapsedTimer>
#include <QSpinBox>
#include <algorithm>
#include <functional>
#include <vector>

#include "gui/theme/theme.h"
#include "gui/views/compose/compose_view.h"

using namespace heddle::gui;

namespace {

constexpr int kEdits = 20;
constexpr qint64 kDeadline = 120000;

/// Times every event.
class Watched : public QApplication {
 public:
  using QApplication::QApplication;

  bool notify(QObject* receiver, QEvent* event) override {
    // Spans within another belong to it.
    if (depth_++ > 0) {
      const bool done = QApplication::notify(receiver, event);
      --depth_;
      return done;
    }
    QElapsedTimer timer;
    timer.start();
    const bool done = QApplication::notify(receiver, event);
    --depth_;
    longest = std::max(longest, static_cast<double>(timer.nsecsElapsed()) * 1e-6);
    return done;
  }

  double longest = 0;

 private:
  int depth_ = 0;
};

double median(std::vector<double> values) {
  std::ranges::sort(values);
  return values[values.size() / 2];
}

bool wait(const std::function<bool()>& until) {
  QElapsedTimer timer;
  timer.start();
  while (!until()) {
    if (timer.elapsed() > kDeadline) return false;
    QCoreApplication::processEvents(QEventLoop::WaitForMoreEvents, 100);
  }
  return true;
}

}  // namespace

int main(int argc, char** argv) {
  Watched application(argc, argv);
  Theme::install(Theme::Mode::dark);
  const QString file =
      argc > 1 ? QString::fromLocal8Bit(argv[1])
               : QStringLiteral(HEDDLE_SOURCE_DIR "/resources/recipes/llama3-8b-8xh100.toml");
  RecipeDocument document;
  if (const auto opened = document.open(file); !opened) {
    fmt::print(stderr, "{}\n", opened.error().message);
    return 2;
  }
  PlanClient planner(QStringLiteral(HEDDLE_BINARY_DIR "/heddle-engine"));
  RecipePrediction prediction(document, planner);
  ComposeView view(document, prediction);
  view.resize(1536, 924);
  view.show();
  prediction.start();
  if (!wait([&] { return !prediction.isPlanning(); }) || !prediction.shown()) {
    fmt::print(stderr, "no prediction: {}\n", prediction.staleReason().toStdString());
    return 1;
  }
  auto* batch = view.findChild<QSpinBox*>(QStringLiteral("training.local_batch"));
  const int first = batch->value();
  std::vector<double> shown, held;
  for (int edit = 0; edit < kEdits; ++edit) {
    const auto before = prediction.shown();
    application.longest = 0;
    QElapsedTimer timer;
    timer.start();
    batch->setValue(edit % 2 == 0 ? first + 1 : first);
    const double typed = static_cast<double>(timer.nsecsElapsed()) * 1e-6;
    if (!wait([&] { return prediction.shown() != before; })) return 1;
    QCoreApplication::processEvents();  // what has changed is painted
    shown.push_back(static_cast<double>(timer.nsecsElapsed()) * 1e-6);
    held.push_back(std::max(typed, application.longest));
  }
  fmt::print("edit shown after {:.0f} ms (median), {:.0f} ms (most)\n", median(shown),
             std::ranges::max(shown));
  fmt::print("window held for {:.1f} ms (median of the longest of an edit), {:.1f} ms (most)\n",
             median(held), std::ranges::max(held));
  return 0;
}
