// The preferences as a person uses them: opened by their key, found by typing, each in use at once
// and at the next start.
#include <QCheckBox>
#include <QComboBox>
#include <QSpinBox>
#include <QTableView>
#include <QTemporaryDir>
#include <QTest>
#include <QWheelEvent>

#include "gui/charts/chart_board.h"
#include "gui/settings.h"
#include "gui/window/main_window.h"
#include "gui/window/preferences_dialog.h"
#include "gui/window/tour.h"
#include "storage/trust.h"
#include "tests/support/results.h"
#include "tests/support/sample_runs.h"
#include "tests/support/test_class.h"
#include "workbench/alerts.h"

using namespace heddle;
using namespace heddle::gui;

class PreferencesTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void initTestCase() {
    qputenv("XDG_CONFIG_HOME", store_.folder.filePath("config").toUtf8());
    qputenv("XDG_DATA_HOME", store_.folder.filePath("data").toUtf8());
    qputenv("HOME", store_.folder.path().toUtf8());
    QVERIFY(storage::trust(store_.path().toStdString()));
    Theme::install(Theme::Mode::dark);
  }

  void init() {
    openSettings()->clear();
    QFile::remove(QString::fromStdString(workbench::alert_rules_path()));
    KeptPreferences::instance().load();
    session_ = std::make_unique<Session>(store_.path());
    window_ = std::make_unique<MainWindow>(*session_);
    window_->resize(1400, 900);
    window_->show();
    window_->activateWindow();
    QVERIFY(QTest::qWaitForWindowActive(window_.get()));
    QTRY_VERIFY(window_->isReady());
  }

  void cleanup() {
    window_.reset();
    session_.reset();
  }

  void they_open_by_their_key_and_close_by_escape() {
    open();
    QTest::keyClick(dialog()->focusWidget(), Qt::Key_Escape);
    QTRY_VERIFY(!dialog());
  }

  void a_preference_is_found_by_typing() {
    open();
    QTest::keyClicks(dialog()->focusWidget(), "x AXIS");
    QVERIFY(control<QComboBox>("x axis")->isVisible());
    QVERIFY(!control<QComboBox>("Theme")->isVisible());
    QVERIFY(!dialog()->findChild<QCheckBox*>("alert-not_finite")->isVisible());
    QTest::keyClicks(dialog()->focusWidget(), "qqq");
    QVERIFY(!control<QComboBox>("x axis")->isVisible());
    dialog()->findChild<QLineEdit*>("findPreference")->clear();
    QVERIFY(control<QComboBox>("Theme")->isVisible());
  }

  void the_theme_is_in_use_at_once_and_at_the_next_start() {
    open();
    choose("Theme", 2);
    QCOMPARE(Theme::instance().scheme(), Scheme::light);
    QCOMPARE(window_->grab().toImage().pixelColor(5, 400), colorsOf(Scheme::light).surface);
    startAgain();
    QCOMPARE(preferences().theme, Theme::Mode::light);
    open();
    choose("Theme", 1);
    QCOMPARE(Theme::instance().scheme(), Scheme::dark);
  }

  void dates_are_written_as_wanted() {
    open();
    choose("Dates", 1);
    const QDateTime at(QDate(2026, 11, 18), QTime(14, 10));
    QCOMPARE(format::when(at, at.addSecs(60)), QString("2026-11-18 14:10"));
    choose("Dates", 0);
    QCOMPARE(format::when(at, at.addSecs(60)), QString("1 min ago"));
  }

  void charts_follow_unless_they_have_been_set_otherwise() {
    compare({store_.runs.whole, store_.runs.unwrapped});
    const std::vector<MetricChart*> charts = board()->charts();
    ChartSpec own = charts[0]->spec();
    own.smoothing = 50;
    charts[0]->setSpec(own);
    open();
    type(control<QSpinBox>("Smoothing"), "200");
    choose("x axis", 2);
    QCOMPARE(charts[0]->spec().smoothing, 50.0);
    QCOMPARE(charts[0]->spec().x, ChartX::time);
    QCOMPARE(charts[1]->spec().smoothing, 200.0);
    QCOMPARE(charts[1]->spec().x, ChartX::time);
    startAgain();
    compare({store_.runs.whole, store_.runs.unwrapped});
    QCOMPARE(board()->charts()[0]->spec().smoothing, 50.0);
    QCOMPARE(board()->charts()[1]->spec().smoothing, 200.0);
  }

  void the_raw_curve_goes_and_comes() {
    compare({store_.runs.whole});
    QTRY_VERIFY(window_->isReady());
    MetricChart* chart = board()->charts()[0];
    QTRY_VERIFY(chart->curves() > 0);
    open();
    QTest::qWait(500);  // a chart is drawn a moment after its curves have come
    const QImage with = chart->grab().toImage();
    auto* raw = control<QCheckBox>("Raw curve");
    raw->setFocus();
    QTest::keyClick(raw, Qt::Key_Space);
    QVERIFY(!preferences().samplesBehind);
    QTRY_VERIFY(chart->grab().toImage() != with);
    QTest::keyClick(raw, Qt::Key_Space);
    QTRY_VERIFY(chart->grab().toImage() == with);
    QTest::keyClick(raw, Qt::Key_Space);
    startAgain();
    QVERIFY(!preferences().samplesBehind);
  }

  void compare_shows_as_many_runs_as_wanted() {
    window_->showPage("compare");
    QTRY_COMPARE(window_->currentPage()->subtitle(), QString("2 runs"));
    open();
    type(control<QSpinBox>("Runs at first"), "4");
    QTRY_COMPARE(window_->currentPage()->subtitle(), QString("4 runs"));
  }

  void notifications_are_chosen_by_kind() {
    open();
    QTest::mouseClick(control<QCheckBox>("A run fails"), Qt::LeftButton, {}, QPoint(8, 8));
    QVERIFY(!preferences().notifiesFailures);
    QVERIFY(preferences().notifiesEnds && preferences().notifiesAlerts);
    startAgain();
    QVERIFY(!preferences().notifiesFailures);
  }

  void rules_of_alerts_are_in_their_file_at_once() {
    open();
    QTRY_VERIFY(dialog()->isReady());
    type(control<QDoubleSpinBox>("Throughput fell, % below the run's own"), "45");
    QTest::mouseClick(control<QCheckBox>("Loss spike"), Qt::LeftButton, {}, QPoint(8, 8));
    QTRY_COMPARE(rules().slower, 0.45);
    QCOMPARE(rules().spike, 0.0);
    QCOMPARE(rules().memory, 0.95);
    QVERIFY(!control<QDoubleSpinBox>("Loss spike, deviations above the median")->isEnabled());
    QTest::keyClick(dialog()->focusWidget(), Qt::Key_Escape);
    QTRY_VERIFY(!dialog());
    open();
    QTRY_VERIFY(dialog()->isReady());
    QVERIFY(!control<QCheckBox>("Loss spike")->isChecked());
    QTest::mouseClick(dialog()->findChild<QPushButton*>("resetAlerts"), Qt::LeftButton);
    QTRY_COMPARE(rules(), workbench::AlertRules());
  }

  void a_rule_that_was_just_typed_survives_the_dialog() {
    open();
    QTRY_VERIFY(dialog()->isReady());
    type(control<QDoubleSpinBox>("No step, s"), "300");
    QTest::keyClick(dialog()->focusWidget(), Qt::Key_Escape);
    QTRY_COMPARE(rules().silence, 300.0);
  }

  void a_faulty_file_of_rules_is_said_and_mended() {
    QDir().mkpath(QFileInfo(openSettings()->fileName()).absolutePath());
    QFile file(QString::fromStdString(workbench::alert_rules_path()));
    QVERIFY(file.open(QIODevice::WriteOnly));
    file.write("{\"spike\": -3}");
    file.close();
    open();
    QTRY_VERIFY(dialog()->isReady());
    const auto* fault = dialog()->findChild<QLabel*>("alertFault");
    QVERIFY(fault->text().contains("spike: valid: deviations"));
    QVERIFY(!control<QCheckBox>("Loss spike")->isEnabled());
    QTest::mouseClick(dialog()->findChild<QPushButton*>("resetAlerts"), Qt::LeftButton);
    QVERIFY(control<QCheckBox>("Loss spike")->isEnabled());
    QTRY_VERIFY(workbench::read_alert_rules(workbench::alert_rules_path()).has_value());
    QCOMPARE(rules(), workbench::AlertRules());
  }

  void the_wheel_scrolls_and_changes_nothing() {
    open();
    auto* box = control<QSpinBox>("Smoothing");
    auto* themes = control<QComboBox>("Theme");
    for (QWidget* under : std::initializer_list<QWidget*>{box, themes}) {
      QWheelEvent wheel(QPointF(5, 5), under->mapToGlobal(QPointF(5, 5)), {}, QPoint(0, -120),
                        Qt::NoButton, Qt::NoModifier, Qt::NoScrollPhase, false);
      QCoreApplication::sendEvent(under, &wheel);
    }
    QCOMPARE(box->value(), 10);
    QCOMPARE(themes->currentIndex(), 0);
  }

  void the_tour_and_the_welcome_come_again() {
    open();
    click("showWelcome");
    QTRY_VERIFY(!dialog());
    QCOMPARE(window_->currentPage()->name(), QString("welcome"));
    open();
    click("takeTour");
    QTRY_VERIFY(window_->findChild<Tour*>());
  }

  void layouts_are_reset_and_named_views_stay() {
    window_->keepSession();
    compare({store_.runs.whole, store_.runs.unwrapped});
    const auto usual = board()->charts().size();
    board()->charts()[0]->setFocus();
    QTest::keyClick(board()->charts()[0], Qt::Key_Delete);
    QTRY_COMPARE(board()->charts().size(), usual - 1);
    openSettings()->setValue("charts/compare/views/mine", QByteArray("{}"));
    window_->showPage("runs");
    QTRY_VERIFY(window_->isReady());
    auto* table = window_->currentPage()->findChild<QTableView*>("runs");
    table->setFocus();
    table->setCurrentIndex(table->model()->index(0, 4));
    QTest::keyClick(table, Qt::Key_O);
    QTRY_VERIFY(!openSettings()->value("runs/sorts").toStringList().contains("-created"));
    open();
    click("resetLayouts");
    QTRY_VERIFY(!dialog());
    QCOMPARE(board()->charts().size(), usual);
    QTRY_COMPARE(openSettings()->value("runs/sorts").toStringList(), QStringList("-created"));
    QVERIFY(openSettings()->contains("charts/compare/views/mine"));
  }

  void the_store_is_shown() {
    open();
    QCOMPARE(dialog()->findChild<ElidedLabel*>("storePath")->fullText(), store_.path());
  }

 private:
  PreferencesDialog* dialog() const { return window_->findChild<PreferencesDialog*>(); }
  void open() {
    window_->activateWindow();
    QVERIFY(QTest::qWaitForWindowActive(window_.get()));
    QTest::keyClick(window_.get(), Qt::Key_Comma, Qt::ControlModifier);
    QTRY_VERIFY(dialog() && dialog()->isVisible());
    QTRY_VERIFY(dialog()->isReady());
  }
  template <typename Control>
  Control* control(const char* name) const {
    for (Control* each : dialog()->findChildren<Control*>())
      if (each->accessibleName() == QLatin1String(name)) return each;
    qFatal("there is no control %s", name);
  }
  void choose(const char* name, int index) {
    auto* box = control<QComboBox>(name);
    box->setFocus();
    QTest::keyClick(box, Qt::Key_Home);
    for (int i = 0; i < index; ++i) QTest::keyClick(box, Qt::Key_Down);
    QCOMPARE(box->currentIndex(), index);
  }
  static void type(QAbstractSpinBox* box, const char* text) {
    box->setFocus();
    box->selectAll();
    QTest::keyClicks(box, text);
  }
  void click(const char* name) {
    auto* button = dialog()->findChild<QPushButton*>(QLatin1String(name));
    button->setFocus();
    QTest::keyClick(button, Qt::Key_Space);
  }
  void compare(const QList<qint64>& runs) {
    Q_EMIT session_->compareRequested(runs);
    QTRY_VERIFY(window_->isReady());
  }
  ChartBoard* board() const { return window_->page("compare")->findChild<ChartBoard*>(); }
  static workbench::AlertRules rules() {
    return must(workbench::read_alert_rules(workbench::alert_rules_path()));
  }
  void startAgain() {
    cleanup();
    KeptPreferences::instance().load();
    session_ = std::make_unique<Session>(store_.path());
    window_ = std::make_unique<MainWindow>(*session_);
    window_->resize(1400, 900);
    window_->show();
    window_->activateWindow();
    QVERIFY(QTest::qWaitForWindowActive(window_.get()));
  }

  samples::SampleStore store_;
  std::unique_ptr<Session> session_;
  std::unique_ptr<MainWindow> window_;
};

HEDDLE_WIDGET_TEST(PreferencesTest)
#include "preferences_test.moc"
