// The window over a store of sample runs, in a home of its own.
#pragma once

#include <QTest>
#include <memory>

#include "gui/theme/theme.h"
#include "gui/window/main_window.h"
#include "storage/trust.h"
#include "tests/support/sample_runs.h"

namespace heddle::gui {

class SampleWindow {
 public:
  /// Settings and runs of this process go below the store's folder from now on.
  void prepare() {
    const QString folder = store.folder.path();
    qputenv("XDG_CONFIG_HOME", (folder + QStringLiteral("/config")).toUtf8());
    qputenv("XDG_DATA_HOME", (folder + QStringLiteral("/data")).toUtf8());
    qputenv("HOME", folder.toUtf8());
    QVERIFY(storage::trust(store.path().toStdString()));  // made before it had this home
    Theme::install(Theme::Mode::dark);
  }
  void open(QSize size = {1400, 900}) {
    session = std::make_unique<Session>(store.path());
    window = std::make_unique<MainWindow>(*session);
    window->resize(size);
    window->show();
    window->activateWindow();
    QVERIFY(QTest::qWaitForWindowActive(window.get()));
    QTRY_VERIFY(window->isReady());
  }
  void close() {
    window.reset();
    session.reset();
  }
  void show(const QString& page) {
    window->showPage(page);
    QTRY_VERIFY(window->isReady());
    // Without a desktop a popup that was made on the way takes the activation.
    window->activateWindow();
    QVERIFY(QTest::qWaitForWindowActive(window.get()));
    window->currentPage()->setFocus();
  }

  samples::SampleStore store;
  std::unique_ptr<Session> session;
  std::unique_ptr<MainWindow> window;
};

}  // namespace heddle::gui
