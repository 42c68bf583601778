// Every setting explains itself: in a tooltip, or in words next to it.
#include <QAbstractSpinBox>
#include <QCheckBox>
#include <QComboBox>
#include <QLineEdit>
#include <QPlainTextEdit>
#include <QSlider>
#include <QTemporaryDir>
#include <QTest>

#include "gui/charts/chart_board.h"
#include "gui/charts/chart_options.h"
#include "gui/theme/theme.h"
#include "gui/views/compare/compare_page.h"
#include "gui/views/lineage/continue_dialog.h"
#include "gui/window/preferences_dialog.h"
#include "tests/support/sample_runs.h"
#include "tests/support/test_class.h"

using namespace heddle;
using namespace heddle::gui;

namespace {

bool isKnob(const QWidget* widget) {
  if (qobject_cast<const QAbstractSpinBox*>(widget->parentWidget())) return false;  // a part of it
  return qobject_cast<const QComboBox*>(widget) || qobject_cast<const QCheckBox*>(widget) ||
         qobject_cast<const QLineEdit*>(widget) || qobject_cast<const QPlainTextEdit*>(widget) ||
         qobject_cast<const QSlider*>(widget) || qobject_cast<const QAbstractSpinBox*>(widget);
}

/// The fields below `root` that neither explain themselves nor have words around them that do.
QStringList withoutHelp(const QWidget& root) {
  QStringList found;
  for (const QWidget* knob : root.findChildren<QWidget*>()) {
    if (!isKnob(knob)) continue;
    bool helped = false;
    for (const QWidget* each = knob; each && each != &root && !helped; each = each->parentWidget())
      helped = !each->toolTip().isEmpty() || !each->accessibleDescription().isEmpty();
    if (!helped)
      found << QString::fromLatin1(knob->metaObject()->className()) + QLatin1Char(' ') +
                   knob->accessibleName() + QLatin1Char(' ') + knob->objectName();
  }
  return found;
}

}  // namespace

class KnobHelpTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void initTestCase() {
    qputenv("XDG_CONFIG_HOME", folder_.filePath("config").toUtf8());
    Theme::install(Theme::Mode::dark);
    session_ = std::make_unique<Session>(store_.path());
  }
  void cleanupTestCase() { session_.reset(); }

  void chartOptionsExplainThemselves() {
    ChartBoard board(*session_);
    board.setDefaults({{.metric = "loss"}});
    board.resize(800, 400);
    board.show();
    ChartOptions options(*board.charts().front());
    options.setAttribute(Qt::WA_DeleteOnClose, false);
    QCOMPARE(withoutHelp(options), QStringList());
  }

  void preferencesExplainThemselves() {
    QWidget window;
    window.resize(1000, 700);
    PreferencesDialog dialog(*session_, &window);
    QStringList missing = withoutHelp(dialog);
    missing.removeIf([](const QString& each) { return each.contains("findPreference"); });
    QCOMPARE(missing, QStringList());
  }

  void aForkExplainsItself() {
    ContinueDialog dialog(*session_, store_.runs.whole, storage::Lineage::Kind::fork, nullptr);
    QCOMPARE(withoutHelp(dialog), QStringList());
  }

  void aComparisonExplainsItself() {
    ComparePage page(*session_);
    page.resize(1500, 900);
    page.show();
    page.showRuns({store_.runs.whole, store_.runs.unwrapped, store_.runs.failed});
    QTRY_VERIFY(page.isReady());
    QStringList missing;
    for (const QString& each : withoutHelp(page))
      if (each.startsWith("QComboBox") || each.startsWith("heddle::gui::KeyBox")) missing << each;
    QCOMPARE(missing, QStringList());
  }

 private:
  QTemporaryDir folder_;
  samples::SampleStore store_;
  std::unique_ptr<Session> session_;
};

HEDDLE_WIDGET_TEST(KnobHelpTest)
#include "knob_help_test.moc"
