// A store with runs whose curves are known, and a board over it as a page shows it.
#pragma once

#include <QTemporaryDir>
#include <QTest>
#include <cmath>

#include "gui/charts/chart_board.h"
#include "gui/session.h"
#include "gui/theme/theme.h"
#include "storage/store.h"
#include "storage/writer.h"
#include "tests/support/results.h"

namespace heddle::gui {

struct BoardStore {
  BoardStore() : path(folder.filePath("heddle.sqlite").toStdString()) {
    must(storage::prepare(path));
    writer = must(storage::Writer::open(path));
    must(writer->take_lease());
    session = std::make_unique<Session>(QString::fromStdString(path));
    QObject::connect(session.get(), &Session::message, session.get(),
                     [this](const QString& text) { messages << text; });
  }
  storage::RunId run(const std::string& name) const {
    storage::NewRun made;
    made.name = name;
    made.recipe_name = made.target = "x";
    return must(writer->create_run(made).get()).id;
  }
  static double lossAt(int64_t step) {
    return 4 + std::sin(static_cast<double>(step) * 12.9898) * 0.2;
  }
  /// Steps `first` to `last` of one rank, every so many of them.
  void steps(storage::RunId run, int64_t first, int64_t last, double offset = 0, int32_t rank = 0,
             int64_t every = 1) {
    std::string bytes;
    auto& [seq, at] = logs[{run, rank}];
    if (seq == 0)
      bytes += must(telemetry::encode(telemetry::Start{1e9, rank, 1, "planned", {}, {}}, seq++));
    for (int64_t step = first; step <= last; step += every)
      bytes +=
          must(telemetry::encode(telemetry::Step{step,
                                                 1e9 + 0.5 * static_cast<double>(step),
                                                 {{"loss", offset + lossAt(step)},
                                                  {"tokens_seen", static_cast<double>(step) * 1000},
                                                  {"tokens_per_second", 500.0 + rank},
                                                  {"grad_norm", 1.0}}},
                                 seq++));
    must(writer->ingest(run, rank, 0, at, bytes).get());
    at += bytes.size();
  }
  BoardRun shown(storage::RunId run, const QString& name, int slot = 0,
                 const QString& group = {}) const {
    return {.id = run, .name = name, .stroke = runStroke(slot, Scheme::dark), .group = group};
  }

  QTemporaryDir folder;
  std::string path;
  std::unique_ptr<storage::Writer> writer;
  std::unique_ptr<Session> session;
  QStringList messages;
  std::map<std::pair<storage::RunId, int32_t>, std::pair<uint64_t, uint64_t>> logs;
};

inline void wait(const ChartBoard& board) {
  QCoreApplication::processEvents();
  QVERIFY(QTest::qWaitFor([&] { return board.isReady(); }, 20000));
  QCoreApplication::processEvents();
}

inline void showBoard(ChartBoard& board, const QSize& size = {1300, 520}) {
  board.resize(size);
  board.show();
  board.activateWindow();
  QVERIFY(QTest::qWaitForWindowActive(&board));
  wait(board);
}

/// The visible widget of that accessible name.
template <typename Widget = QWidget>
Widget* named(const QString& name) {
  for (QWidget* widget : QApplication::allWidgets())
    if (widget->isVisible() && widget->accessibleName() == name)
      if (auto* found = qobject_cast<Widget*>(widget)) return found;
  return nullptr;
}

}  // namespace heddle::gui
