#include "gui/views/runs/run_drawer.h"

#include <QMenu>
#include <QPlainTextEdit>

#include "engine/telemetry/metrics.h"
#include "gui/charts/chart_menu.h"
#include "gui/format.h"
#include "gui/models/run_pace.h"
#include "gui/models/value.h"
#include "gui/theme/run_colors.h"
#include "gui/theme/theme.h"
#include "gui/views/runs/run_rows.h"
#include "gui/widgets/layouts.h"

namespace heddle::gui {
namespace {

constexpr int kPoints = 1000;
constexpr int kLowestChart = 170;
constexpr int kDrawerPause = 300;  // in typing, before the notes are saved
const char* const kEnvironment[] = {"host", "cpu", "gpu", "engine", "torch"};

QString summaryOf(const RunRow& row) {
  QStringList parts{QObject::tr("on %1").arg(format::shortName(row.summary.target)),
                    format::plural(row.trained(), counted::kStep)};
  if (const auto seconds = row.seconds())
    parts.last() += QObject::tr(" in %1").arg(format::seconds(*seconds));
  if (row.summary.lineage && row.trained() > 0)
    parts.last() += QObject::tr(" to step %1").arg(format::count(row.summary.steps));
  parts << format::when(row.created());
  return parts.join(QStringLiteral(", "));
}

}  // namespace

RunDrawer::RunDrawer(Session& session, QWidget* parent)
    : QFrame(parent), session_(session), reading_(session.readingThread(), this) {
  setProperty("role", "drawer");
  setFixedWidth(kMinWidth);
  auto* content = new QWidget;
  QVBoxLayout* column = columnOf(content, {20, 16, 20, 16}, 12);
  column->addWidget(makeHead());

  auto* lossHead = new QHBoxLayout;
  lastLoss_ = mono({});
  lossHead->addWidget(section(tr("Loss")), 1);
  lossHead->addWidget(lastLoss_);
  column->addWidget(line());
  column->addLayout(lossHead);
  loss_ = new LineChart({}, Unit::loss);
  loss_->setAccessibleName(tr("Loss"));
  loss_->setProperty("role", "panel");
  loss_->setBodyMargins(0, 0, 0, 0);
  loss_->setFixedHeight(kLowestChart);
  loss_->setEmptyText(tr("No step has reported it"));
  loss_->setContextMenuPolicy(Qt::CustomContextMenu);
  connect(loss_, &QWidget::customContextMenuRequested, this, [this](const QPoint& at) {
    auto* menu = new QMenu(this);
    menu->setAttribute(Qt::WA_DeleteOnClose);
    addChartExports(*menu, *loss_, QStringLiteral("loss"), [this](const QString& text, Tone tone) {
      Q_EMIT session_.message(text, tone);
    });
    menu->popup(loss_->mapToGlobal(at));
  });
  column->addWidget(loss_);

  column->addWidget(line());
  column->addWidget(section(tr("Results")));
  results_ = new QGridLayout;
  results_->setVerticalSpacing(4);
  results_->setHorizontalSpacing(12);
  results_->setColumnStretch(0, 1);
  column->addLayout(results_);

  step_ = new QWidget;
  QVBoxLayout* stepColumn = columnOf(step_, {}, 8);
  stepColumn->addWidget(line());
  auto* stepHead = new QHBoxLayout;
  stepTitle_ = section({});
  stepSeconds_ = mono({});
  stepHead->addWidget(stepTitle_, 1);
  stepHead->addWidget(stepSeconds_);
  stepBar_ = new StackedBar;
  stepLegend_ = new QHBoxLayout;
  stepLegend_->setSpacing(6);
  stepColumn->addLayout(stepHead);
  stepColumn->addWidget(stepBar_);
  stepColumn->addLayout(stepLegend_);
  column->addWidget(step_);

  column->addWidget(line());
  column->addWidget(section(tr("Notes")));
  notes_ = new QPlainTextEdit;
  notes_->setPlaceholderText(tr("What this run was for"));
  notes_->setAccessibleName(tr("Notes"));
  notes_->setFixedHeight(64);
  notes_->setTabChangesFocus(true);  // the keyboard gets out again
  notes_->setEnabled(false);         // until they are some run's
  connect(notes_, &QPlainTextEdit::textChanged, this, [this] {
    typed_ = notes_->toPlainText().toStdString();
    typing_.start();
  });
  typing_.setSingleShot(true);
  typing_.setInterval(kDrawerPause);
  connect(&typing_, &QTimer::timeout, this, &RunDrawer::saveNotes);
  column->addWidget(notes_);
  column->addStretch(1);

  QScrollArea* area = scrolled(content);
  area->setAccessibleName(tr("Facts of the run"));
  columnOf(this)->addWidget(area);
  connect(&session, &Session::secondPassed, this, [this] {
    if (isVisible() && facts_.detail.summary.id > 0) showSummary();
  });
}

void RunDrawer::showSummary() {
  RunRow row;
  row.summary = facts_.detail.summary;
  name_->setFullText(row.name());
  note_->setText(summaryOf(row));
}

void RunDrawer::resizeEvent(QResizeEvent* event) {
  QFrame::resizeEvent(event);
  loss_->setFixedHeight(std::max(kLowestChart, width() / 2));
}

RunDrawer::~RunDrawer() {
  if (typing_.isActive()) saveNotes();
}

QWidget* RunDrawer::makeHead() {
  auto* head = new QWidget;
  QVBoxLayout* column = columnOf(head, {}, 8);
  auto* row = new QHBoxLayout;
  name_ = new ElidedLabel;
  name_->setFont(font::mono(16, QFont::DemiBold));
  auto* close = iconButton(QStringLiteral("close"), tr("Close the drawer"));
  close->setObjectName(QStringLiteral("closeDrawer"));
  connect(close, &QToolButton::clicked, this, &RunDrawer::closed);
  row->addWidget(name_, 1);
  row->addWidget(close);
  note_ = muted({});
  note_->setObjectName(QStringLiteral("summary"));
  note_->setWordWrap(true);
  note_->setStyleSheet(QStringLiteral("font-size: 12px;"));
  cause_ = label({}, "error");
  cause_->setWordWrap(true);
  cause_->setTextInteractionFlags(Qt::TextSelectableByMouse);
  buttons_ = new QWidget;
  QHBoxLayout* buttons = rowOf(buttons_, {}, 8);
  QPushButton* open = quietButton(tr("Open"));
  open->setObjectName(QStringLiteral("openRun"));
  QPushButton* edit = quietButton(tr("Edit as new recipe"));
  edit->setObjectName(QStringLiteral("editRecipe"));
  QToolButton* more = iconButton(QStringLiteral("more"), tr("More for this run"));
  more->setProperty("role", "button");
  connect(open, &QPushButton::clicked, this,
          [this] { Q_EMIT session_.runRequested(QStringLiteral("live"), run_); });
  connect(edit, &QPushButton::clicked, this, [this] { session_.editAsNew(facts_.detail); });
  connect(more, &QToolButton::clicked, this,
          [this, more] { Q_EMIT menuRequested(more->mapToGlobal(QPoint(0, more->height() + 4))); });
  buttons->addWidget(open);
  buttons->addWidget(edit);
  buttons->addWidget(more);
  buttons->addStretch(1);
  column->addLayout(row);
  column->addWidget(note_);
  column->addWidget(cause_);
  column->addWidget(buttons_);
  return head;
}

void RunDrawer::showRun(storage::RunId run) {
  if (run != run_) loss_->showAll();
  run_ = run;
  session_.read(
      reading_, [run](storage::Reader& reader) { return readRunFacts(reader, run, kPoints); },
      [this](Result<RunFacts> facts) {
        if (facts) display(std::move(*facts));
      });
}

void RunDrawer::display(RunFacts facts) {
  const storage::RunSummary& summary = facts.detail.summary;
  cause_->setVisible(!summary.cause.empty() && summary.state != storage::RunState::done);
  cause_->setText(QString::fromStdString(summary.cause));
  setTone(cause_, summary.state == storage::RunState::waiting ? "muted" : "");
  buttons_->setVisible(!summary.trashed);  // runs in the trash can only be looked at
  lastLoss_->setText(summary.loss ? format::loss(*summary.loss) : format::kNone);
  loss_->clearCurves();
  RunStroke stroke{colors().accent};
  if (const auto own = session_.runSlots().ownSlotOf(summary.id))
    stroke = runStroke(*own, Theme::instance().scheme());
  loss_->setSeries(loss_->addCurve(tr("loss"), stroke.color, stroke.marker), facts.loss);
  loss_->flush();
  showResults(facts);
  showStep(facts);
  if (facts_.detail.summary.id != summary.id) {
    if (typing_.isActive()) saveNotes();
    typed_.reset();
  }
  showNotes(summary.notes);
  facts_ = std::move(facts);
  showSummary();
}

void RunDrawer::showNotes(const std::string& notes) {
  if (typed_ && *typed_ != notes) return;  // the typed text is still on its way
  typed_.reset();
  notes_->setEnabled(true);
  if (notes_->toPlainText().toStdString() == notes) return;
  const QSignalBlocker nobodyTyped(notes_);
  notes_->setPlainText(QString::fromStdString(notes));
}

void RunDrawer::showResults(const RunFacts& facts) {
  clear(results_);
  int row = 0;
  const auto add = [&](const std::string& key, const storage::Value& value) {
    auto* text = new ElidedLabel(valueText(key, value), "mono");
    text->setAlignment(Qt::AlignRight | Qt::AlignVCenter);
    results_->addWidget(muted(resultText(key)), row, 0);
    results_->addWidget(text, row++, 1);
    return text;
  };
  const auto& results = facts.detail.results;
  const auto exposed =
      exposedOf(resultOf(facts.detail, "exposed_seconds"), resultOf(facts.detail, "step_seconds"));
  for (const telemetry::Metric& metric : telemetry::metrics()) {
    const std::string name(metric.name);
    const auto found = results.find(name);
    if (!metric.drawer || found == results.end()) continue;
    ElidedLabel* text = add(name, found->second);
    text->setObjectName(QString::fromStdString(name));
    if (name == "exposed_seconds" && exposed && isMuchExposed(exposed->share)) setTone(text, "bad");
  }
  for (const char* key : kEnvironment)
    if (const auto found = facts.detail.environment.find(key);
        found != facts.detail.environment.end())
      add(key, found->second);
  if (const auto& lineage = facts.detail.summary.lineage) {
    // Whole: often only its end distinguishes a name from its siblings.
    storage::Lineage shown = *lineage;
    shown.parent_name = format::shortName(lineage->parent_name).toStdString();
    QLabel* text = mono(QString::fromStdString(storage::words_of(shown)));
    text->setObjectName(QStringLiteral("lineage"));
    text->setWordWrap(true);
    text->setAlignment(Qt::AlignRight | Qt::AlignTop);
    results_->addWidget(muted(tr("lineage")), row, 0, Qt::AlignTop);
    results_->addWidget(text, row++, 1);
  }
  add("ranks", double(facts.detail.ranks.size()));
}

void RunDrawer::showStep(const RunFacts& facts) {
  step_->setVisible(facts.timeline != nullptr);
  if (!facts.timeline) return;
  const Statistics spent = facts.timeline->statistics();
  stepTitle_->setText(tr("Step %1 alone, rank 0").arg(format::count(facts.steps->step)));
  stepSeconds_->setText(format::seconds(double(spent.range) / 1e6));
  const Colors& c = colors();
  const auto part = [](const QString& name, int64_t us, const QColor& color) {
    const double seconds = double(us) / 1e6;
    return StackedBar::Part{seconds, color, name + QChar(' ') + format::seconds(seconds)};
  };
  QVector<StackedBar::Part> parts{part(tr("compute"), spent.compute, c.compute),
                                  part(tr("exposed"), spent.exposed, c.exposed),
                                  part(tr("idle"), spent.idle, c.raised)};
  clear(stepLegend_);
  for (const StackedBar::Part& one : parts) {
    stepLegend_->addWidget(new Swatch(one.color));
    stepLegend_->addWidget(caption(one.text));
    stepLegend_->addSpacing(6);
  }
  stepLegend_->addStretch(1);
  stepBar_->setParts(std::move(parts));
}

void RunDrawer::saveNotes() {
  typing_.stop();
  session_.keep([run = facts_.detail.summary.id, notes = *typed_](workbench::Workbench& workbench) {
    return workbench.writer().set_notes(run, notes).get();
  });
}

}  // namespace heddle::gui
