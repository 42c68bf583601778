#include "gui/window/preferences_dialog.h"

#include <QCheckBox>
#include <QClipboard>
#include <QComboBox>
#include <QDir>
#include <QGuiApplication>
#include <QSpinBox>

#include "gui/charts/chart_spec.h"
#include "gui/widgets/layouts.h"

namespace heddle::gui {
namespace {

constexpr int kPreferencesWidth = 640, kPreferencesHeight = 520, kChoiceWidth = 224;

template <typename Change>
void change(Change change) {
  Preferences chosen = preferences();
  change(chosen);
  KeptPreferences::instance().set(chosen);
}

}  // namespace

PreferencesDialog::PreferencesDialog(Session& session, QWidget* parent)
    : Dialog(tr("Preferences"), QStringLiteral("settings"), Tone::accent, parent) {
  setObjectName(QStringLiteral("preferences"));
  setMinimumWidth(kPreferencesWidth);
  field_ = new SearchField(tr("Find a preference"));
  field_->setObjectName(QStringLiteral("findPreference"));
  connect(field_, &QLineEdit::textChanged, this, &PreferencesDialog::find);
  body()->addWidget(field_);
  list_ = new PreferenceList;
  area_ = scrolled(list_);
  area_->setFocusPolicy(Qt::NoFocus);
  area_->setMinimumHeight(std::min(kPreferencesHeight, parent->height() * 6 / 10));
  body()->addWidget(area_, 1);
  none_ = muted({});
  none_->setAlignment(Qt::AlignHCenter | Qt::AlignTop);
  none_->setMinimumHeight(area_->minimumHeight());
  none_->hide();
  body()->addWidget(none_, 1);
  addAppearance();
  addCharts();
  addNotifications();
  list_->beginSection(tr("Alerts of a run"));
  alerts_ = new AlertForm(session, *list_);
  addWindow(session);
  QPushButton* close = quietButton(tr("Close"));
  close->setObjectName(QStringLiteral("closePreferences"));
  connect(close, &QPushButton::clicked, this, &QDialog::accept);
  addButton(close);
  field_->setFocus();
}

void PreferencesDialog::addAppearance() {
  const Preferences& now = preferences();
  list_->beginSection(tr("Appearance"));
  addChoice(tr("Theme"), {tr("same as the system"), tr("dark"), tr("light")},
            static_cast<int>(now.theme), tr("Follows the system when it changes"),
            [](Preferences& chosen, int index) { chosen.theme = static_cast<Theme::Mode>(index); });
  addChoice(
      tr("Dates"), {tr("17 min ago, yesterday, 18 Nov"), tr("2026-11-18 14:10")},
      static_cast<int>(now.dates), tr("In tables and lists; files have the second kind"),
      [](Preferences& chosen, int index) { chosen.dates = static_cast<format::Dates>(index); });
}

void PreferencesDialog::addCharts() {
  const Preferences& now = preferences();
  list_->beginSection(tr("Charts"));
  addNumber(tr("Smoothing"), 0, Preferences::kMaxSmoothing, now.smoothing, tr("none"),
            tr("steps until a sample counts half"),
            tr("Charts with a smoothing of their own keep it"),
            [](Preferences& chosen, int steps) { chosen.smoothing = steps; });
  addTick(tr("Raw curve"), tr("faint, behind the smoothed one"), tr("In charts that are smoothed"),
          now.samplesBehind, [](Preferences& chosen, bool on) { chosen.samplesBehind = on; });
  addChoice(tr("x axis"), chartXWords(), static_cast<int>(now.x),
            tr("Charts with an axis of their own keep it"),
            [](Preferences& chosen, int index) { chosen.x = static_cast<ChartX>(index); });
  addNumber(tr("Runs at first"), 1, Preferences::kMaxCompared, now.comparedAtFirst, {},
            tr("newest runs in Compare"), tr("Until you choose runs there"),
            [](Preferences& chosen, int runs) { chosen.comparedAtFirst = runs; });
}

void PreferencesDialog::addNotifications() {
  const Preferences& now = preferences();
  list_->beginSection(tr("Desktop notifications while another window is in use"));
  addTick(tr("A run ends"), tr("notify"), tr("It has done its steps, or was stopped"),
          now.notifiesEnds, [](Preferences& chosen, bool on) { chosen.notifiesEnds = on; });
  addTick(tr("A run fails"), tr("notify"), tr("Or is lost: its hosts no longer answer"),
          now.notifiesFailures, [](Preferences& chosen, bool on) { chosen.notifiesFailures = on; });
  addTick(tr("A run gives an alert"), tr("notify"), tr("By the rules below"), now.notifiesAlerts,
          [](Preferences& chosen, bool on) { chosen.notifiesAlerts = on; });
}

void PreferencesDialog::addWindow(const Session& session) {
  list_->beginSection(tr("Window"));
  auto* store = new QWidget;
  QHBoxLayout* row = rowOf(store, {}, 8);
  const QString path = QDir::toNativeSeparators(session.storePath());
  auto* shown = new ElidedLabel(path, "mono", Qt::ElideMiddle);
  shown->setObjectName(QStringLiteral("storePath"));
  shown->setAccessibleName(tr("Store: %1").arg(path));
  QToolButton* copy = iconButton(QStringLiteral("copy"), tr("Copy the path of the store"));
  copy->setObjectName(QStringLiteral("copyStorePath"));
  connect(copy, &QToolButton::clicked, this,
          [path] { QGuiApplication::clipboard()->setText(path); });
  row->addWidget(shown, 1);
  row->addWidget(copy);
  list_->addRow(tr("Store"), store,
                tr("The runs of this window. “Open another store …” opens another beside it"));
  const auto leave = [this](QPushButton* button, const char* name, auto signal) {
    button->setObjectName(QLatin1String(name));
    connect(button, &QPushButton::clicked, this, [this, signal] {
      accept();
      Q_EMIT(this->*signal)();
    });
    return button;
  };
  list_->addRow(tr("Layout"),
                leave(quietButton(tr("Reset all layouts")), "resetLayouts",
                      &PreferencesDialog::layoutResetWanted),
                tr("Columns, sorts and groups of Runs, charts, timeline lanes and splitters are as "
                   "on the first day. Named views, runs and recipes stay"));
  auto* begin = new QWidget;
  QHBoxLayout* buttons = rowOf(begin, {}, 8);
  buttons->addWidget(
      leave(quietButton(tr("Welcome")), "showWelcome", &PreferencesDialog::welcomeWanted));
  buttons->addWidget(
      leave(quietButton(tr("Take the tour")), "takeTour", &PreferencesDialog::tourWanted));
  list_->addRow(tr("First steps"), begin);
}

void PreferencesDialog::addChoice(const QString& title, const QStringList& choices, int current,
                                  const QString& note,
                                  const std::function<void(Preferences&, int)>& put) {
  auto* box = new QComboBox;
  box->addItems(choices);
  box->setCurrentIndex(current);
  box->setFixedWidth(kChoiceWidth);
  box->setToolTip(note);
  connect(box, &QComboBox::currentIndexChanged, this,
          [put](int index) { change([&](Preferences& chosen) { put(chosen, index); }); });
  list_->addRow(title, box, note);
}

void PreferencesDialog::addNumber(const QString& title, int low, int high, int current,
                                  const QString& zero, const QString& unit, const QString& note,
                                  const std::function<void(Preferences&, int)>& put) {
  auto* whole = new QWidget;
  QHBoxLayout* row = rowOf(whole, {}, 8);
  auto* box = new QSpinBox;
  box->setRange(low, high);
  box->setSpecialValueText(zero);
  box->setValue(current);
  box->setAccessibleName(title);
  box->setMinimumWidth(80);
  row->addWidget(box);
  row->addWidget(muted(unit));
  connect(box, &QSpinBox::valueChanged, this,
          [put](int value) { change([&](Preferences& chosen) { put(chosen, value); }); });
  list_->addRow(title, whole, note);
}

void PreferencesDialog::addTick(const QString& title, const QString& words, const QString& help,
                                bool current, const std::function<void(Preferences&, bool)>& put) {
  auto* box = new QCheckBox(words);
  box->setChecked(current);
  box->setAccessibleName(title);
  box->setToolTip(help);
  connect(box, &QCheckBox::toggled, this,
          [put](bool on) { change([&](Preferences& chosen) { put(chosen, on); }); });
  list_->addRow(title, box);
}

void PreferencesDialog::find(const QString& words) {
  const bool any = list_->filter(words);
  area_->setVisible(any);
  none_->setVisible(!any);
  none_->setText(tr("No preference matches “%1”")
                     .arg(none_->fontMetrics().elidedText(words, Qt::ElideRight, 240)));
}

}  // namespace heddle::gui
