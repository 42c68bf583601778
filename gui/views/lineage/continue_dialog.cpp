#include "gui/views/lineage/continue_dialog.h"

#include <QDateTime>

#include "engine/recipe/parse.h"
#include "gui/format.h"
#include "gui/models/fork_name.h"
#include "gui/theme/theme.h"
#include "workbench/lost_hosts.h"

namespace heddle::gui {
namespace {

constexpr int kPauseMilliseconds = 300;  // in typing, before it is looked at
constexpr int kTold = 240;               // pixels, for the explanation
constexpr int kMaxSteps = 1'000'000'000;

QString wordsOf(const std::string& words) { return QString::fromStdString(words); }

QString hostsText(const std::vector<std::string>& without) {
  if (without.empty()) return ContinueDialog::tr("all of its hosts");
  QStringList names;
  for (const std::string& name : without) names << wordsOf(name);
  return ContinueDialog::tr("go on without %1").arg(names.join(QStringLiteral(", ")));
}

/// Whether the hosts take the run, by the preflight: the lines that speak against it are an error.
Result<QString> fitOf(const std::string& store, const workbench::LaunchRequest& request) {
  const auto findings = workbench::check_launch(store, request);
  if (!findings) return fail("{}", findings.error().message);
  if (!workbench::may_start(*findings))
    return fail("{}", workbench::lines_of(*findings, probe::Status::fail));
  QStringList lines;
  for (const workbench::Finding& finding : *findings)
    if (finding.name.starts_with("memory")) lines << wordsOf(finding.line());
  return lines.join(QLatin1Char('\n'));
}

QString nameOf(const workbench::SavedCheckpoint& saved) {
  return QStringLiteral("%1, %2").arg(
      wordsOf(saved.name),
      format::when(QDateTime::fromMSecsSinceEpoch(static_cast<qint64>(saved.saved * 1000))));
}

}  // namespace

ContinueDialog::ContinueDialog(Session& session, storage::RunId parent, Kind kind,
                               QWidget* parentWidget)
    : Dialog(kind == Kind::resume ? tr("Resume run") : tr("Fork run"), QStringLiteral("launch"),
             Tone::accent, parentWidget),
      session_(session),
      id_(parent),
      kind_(kind),
      looking_(session.workingThreads(), this),
      planning_(session.workingThreads(), this),
      launching_(session.workingThreads(), this) {
  setObjectName(QStringLiteral("continueDialog"));
  setMinimumWidth(620);
  build();
  typing_.setSingleShot(true);
  typing_.setInterval(kPauseMilliseconds);
  connect(&typing_, &QTimer::timeout, this, &ContinueDialog::plan);
  // Closing the dialog before the ranks run takes the launch back.
  connect(this, &QDialog::rejected, this, [this] { *cancelled_ = true; });
  look();
}

ContinueDialog::~ContinueDialog() { *cancelled_ = true; }

void ContinueDialog::build() {
  hosts_ = new QComboBox;
  hosts_->setObjectName(QStringLiteral("hosts"));
  hosts_->setToolTip(
      tr("Without a lost host it has fewer data-parallel ranks and the same global batch, or a "
         "spare of its target in that place"));
  from_ = new QComboBox;
  from_->setObjectName(QStringLiteral("from"));
  from_->setProperty("role", "mono");
  steps_ = new QSpinBox;
  steps_->setObjectName(QStringLiteral("steps"));
  steps_->setRange(1, kMaxSteps);
  steps_->setGroupSeparatorShown(true);
  steps_->setMinimumWidth(112);
  name_ = new QLineEdit;
  name_->setObjectName(QStringLiteral("runName"));
  name_->setProperty("role", "mono");
  changes_ = new QPlainTextEdit;
  changes_->setObjectName(QStringLiteral("changes"));
  changes_->setFont(font::mono(12));
  changes_->setPlaceholderText(tr("keys of the recipe, one a line, as in optimizer.lr=1e-4"));
  changes_->setTabChangesFocus(true);
  changes_->setFixedHeight(58);
  from_->setToolTip(tr("The checkpoint that the new run begins with; newest first"));
  steps_->setToolTip(tr("The new run's last step, counted on from the parent's"));
  name_->setToolTip(tr("The new run's name; empty: made from the parent's"));
  changes_->setToolTip(
      tr("As in a recipe's file, in place of the parent's values. What may not change is named "
         "below"));
  auto* form = new QGridLayout;
  form->setHorizontalSpacing(12);
  form->setVerticalSpacing(8);
  form->setColumnStretch(1, 1);
  int row = 0;
  const auto add = [&](const QString& name, QWidget* field, Qt::Alignment alignment = {}) {
    QLabel* label = fieldLabel(name, field);
    label->setMinimumWidth(96);
    form->addWidget(label, row, 0, field == changes_ ? Qt::AlignTop : Qt::AlignVCenter);
    form->addWidget(field, row++, 1, alignment);
    return label;
  };
  hostsLabel_ = add(tr("hosts"), hosts_);
  hostsLabel_->hide();
  hosts_->hide();
  if (kind_ == Kind::fork) add(tr("from step"), from_);
  add(tr("train to step"), steps_, Qt::AlignLeft);
  add(tr("change"), changes_);
  add(tr("name"), name_);
  body()->addLayout(form);
  body()->addWidget(line());
  QVBoxLayout* told = addRoom(kTold, 12);
  facts_ = new QGridLayout;
  facts_->setHorizontalSpacing(12);
  facts_->setVerticalSpacing(6);
  facts_->setColumnStretch(1, 1);
  facts_->setColumnMinimumWidth(0, 96);
  told->addLayout(facts_);
  fault_ = label(tr("Reading its checkpoints …"), "muted");
  fault_->setObjectName(QStringLiteral("fault"));
  fault_->setWordWrap(true);
  fault_->setTextInteractionFlags(Qt::TextSelectableByMouse | Qt::TextSelectableByKeyboard);
  told->addWidget(fault_);
  told->addStretch(1);

  QPushButton* cancel = quietButton(tr("Cancel"));
  cancel->setObjectName(QStringLiteral("cancel"));
  edit_ = quietButton(tr("Edit in Compose first"), QStringLiteral("compose"));
  edit_->setObjectName(QStringLiteral("editFirst"));
  edit_->setVisible(kind_ == Kind::fork);
  start_ =
      primaryButton(kind_ == Kind::resume ? tr("Resume") : tr("Fork"), QStringLiteral("launch"));
  start_->setObjectName(QStringLiteral("start"));
  start_->setEnabled(false);
  edit_->setEnabled(false);
  start_->setDefault(true);
  for (QPushButton* button : {cancel, edit_, start_}) addButton(button);
  connect(cancel, &QPushButton::clicked, this, &QDialog::reject);
  connect(edit_, &QPushButton::clicked, this, &ContinueDialog::editFirst);
  connect(start_, &QPushButton::clicked, this, &ContinueDialog::start);
  const auto later = [this] {
    // A number's field says that it has changed whenever Enter is pressed in it.
    if (!look_ || (asked() == planned_ && !typing_.isActive())) return;
    start_->setEnabled(false);
    typing_.start();
  };
  connect(from_, &QComboBox::currentIndexChanged, this, later);
  connect(hosts_, &QComboBox::currentIndexChanged, this, later);
  connect(steps_, &QSpinBox::valueChanged, this, later);
  connect(changes_, &QPlainTextEdit::textChanged, this, later);
}

void ContinueDialog::look() {
  session_.work(
      looking_,
      [id = id_](workbench::Workbench& workbench) -> Result<Look> {
        auto reader = storage::Reader::open(workbench.store_path());
        if (!reader) return fail(reader);
        auto parent = reader->run(id);
        if (!parent) return fail(parent);
        auto withouts = workbench::choices_without(*parent);
        const auto checkpoints =
            withouts.empty() ? workbench::RunCheckpoints::open(*parent)
                             : workbench::RunCheckpoints::open_without(*parent, withouts.front());
        if (!checkpoints) return fail(checkpoints);
        const int64_t steps =
            recipe::parse(parent->recipe, parent->summary.name).recipe.training.steps;
        return Look{std::move(*parent), checkpoints->saved(), steps, std::move(withouts)};
      },
      [this](Result<Look> look) {
        if (look) return offer(std::move(*look));
        display(fail(look));
      });
}

void ContinueDialog::offer(Look look) {
  look_ = std::move(look);
  const QSignalBlocker quietFrom(from_), quietSteps(steps_), quietHosts(hosts_);
  for (const std::vector<std::string>& without : look_->withouts)
    hosts_->addItem(hostsText(without));
  hosts_->setVisible(hosts_->count() > 0);
  hostsLabel_->setVisible(hosts_->count() > 0);
  for (const workbench::SavedCheckpoint& saved : look_->saved)
    from_->addItem(nameOf(saved), wordsOf(saved.name));
  const int64_t newest = look_->saved.empty() ? 0 : look_->saved.front().step;
  // A run that is done trains as many steps again; the text below explains it.
  steps_->setValue(static_cast<int>(
      std::min<int64_t>(look_->steps > newest ? look_->steps : newest + look_->steps, kMaxSteps)));
  steps_->selectAll();  // a number typed now is the whole one
  edit_->setEnabled(!look_->saved.empty());
  plan();
}

QString ContinueDialog::checkpoint() const {
  return kind_ == Kind::fork ? from_->currentData().toString() : QString();
}

std::vector<std::string> ContinueDialog::sets() const {
  std::vector<std::string> sets;
  if (steps_->value() != look_->steps)
    sets.push_back("training.steps=" + std::to_string(steps_->value()));
  for (const QString& line : changes_->toPlainText().split(QLatin1Char('\n')))
    if (!line.trimmed().isEmpty()) sets.push_back(line.trimmed().toStdString());
  return sets;
}

std::vector<std::string> ContinueDialog::without() const {
  if (look_->withouts.empty()) return {};
  return look_->withouts[static_cast<size_t>(hosts_->currentIndex())];
}

ContinueDialog::Asked ContinueDialog::asked() const {
  return {checkpoint().toStdString(), sets(), without()};
}

void ContinueDialog::plan() {
  if (!look_) return;
  typing_.stop();
  planned_ = asked();
  workbench::ContinueRequest request{.kind = kind_,
                                     .parent = look_->parent,
                                     .checkpoint = planned_.checkpoint,
                                     .sets = planned_.sets,
                                     .sets_called = tr("change").toStdString(),
                                     .without = planned_.without};
  session_.work(
      planning_,
      [request](workbench::Workbench& workbench) -> Result<Plan> {
        auto reader = storage::Reader::open(workbench.store_path());
        if (!reader) return fail(reader);
        auto continuation = workbench::plan_continuation(*reader, request);
        if (!continuation) return fail(continuation);
        Plan plan{std::move(*continuation), {}};
        if (request.without.empty()) return plan;
        auto fit = fitOf(workbench.store_path(), plan.continuation.launch);
        if (!fit) return fail(fit);
        plan.fit = std::move(*fit);
        return plan;
      },
      [this](const Result<Plan>& plan) { display(plan); });
}

void ContinueDialog::display(const Result<Plan>& plan) {
  plan_.reset();
  clear(facts_);
  start_->setEnabled(plan.has_value());
  setRole(fault_, plan ? "muted" : "error");
  if (!plan) {
    fault_->setText(wordsOf(plan.error().message));
    fault_->setVisible(true);
    return;
  }
  plan_ = plan->continuation;
  name_->setPlaceholderText(wordsOf(plan_->name));
  int row = 0;
  const auto add = [&](const QString& name, const QString& value) {
    facts_->addWidget(muted(name), row, 0, Qt::AlignTop);
    QLabel* words = mono(value);
    words->setWordWrap(true);
    facts_->addWidget(words, row++, 1);
  };
  add(tr("lineage"), tr("%1, to step %2")
                         .arg(wordsOf(storage::words_of(plan_->launch.begin->lineage)),
                              format::count(plan_->last_step)));
  add(tr("on"), wordsOf(plan_->launch.target.name));
  if (!plan_->hosts.empty()) add(tr("hosts"), wordsOf(plan_->hosts));
  if (!plan->fit.isEmpty()) add(tr("fits"), plan->fit);
  add(tr("begins with"), wordsOf(plan_->path));
  add(tr("saves in"), wordsOf(plan_->folder));
  for (const recipe::Change& change : plan_->changes)
    add(wordsOf(change.key),
        tr("%1 instead of %2").arg(wordsOf(change.now), wordsOf(change.before)));
  QStringList notes;
  for (const std::string& note : plan_->notes) notes << wordsOf(note);
  fault_->setText(notes.join(QLatin1Char('\n')));
  fault_->setVisible(!notes.isEmpty());
}

QString ContinueDialog::text() const {
  QStringList lines;
  for (int i = 0; i < facts_->count(); ++i)
    if (const auto* words = qobject_cast<QLabel*>(facts_->itemAt(i)->widget()))
      lines << words->text();
  return lines.join(QLatin1Char('\n')) + QLatin1Char('\n') + fault_->text();
}

void ContinueDialog::start() {
  if (!plan_ || launching_.running()) return;
  workbench::LaunchRequest request = plan_->launch;
  if (const QString name = name_->text().trimmed(); !name.isEmpty())
    request.name = name.toStdString();
  setFocus();  // else Cancel gets it, and a second Enter cancels
  for (QWidget* widget :
       std::initializer_list<QWidget*>{hosts_, from_, steps_, changes_, name_, edit_, start_})
    widget->setEnabled(false);
  setRole(fault_, "muted");
  fault_->setText(tr("Starting …"));
  fault_->setVisible(true);
  session_.act(
      launching_,
      [request, cancelled = cancelled_](workbench::Workbench& workbench) -> Result<storage::RunId> {
        const auto run =
            workbench::launch(workbench.writer(), request,
                              [&](const std::string&, uint64_t, uint64_t) { return !*cancelled; });
        if (!run) return fail("{}", run.error().message);
        return run->id;
      },
      [this](const Result<storage::RunId>& run) {
        if (run) {
          Q_EMIT session_.runRequested(QStringLiteral("live"), *run);
          return accept();
        }
        for (QWidget* widget :
             std::initializer_list<QWidget*>{hosts_, from_, steps_, changes_, name_, edit_, start_})
          widget->setEnabled(true);  // what failed may do the next time
        setRole(fault_, "error");
        fault_->setText(wordsOf(run.error().message));
      });
}

void ContinueDialog::editFirst() {
  if (!look_) return;
  const auto edited =
      workbench::forked_recipe(look_->parent.recipe, sets(), tr("change").toStdString());
  if (!edited) return display(fail(edited));
  Q_EMIT session_.recipeRequested(QStringLiteral("compose"),
                                  forkName({wordsOf(look_->parent.summary.name),
                                            checkpoint().mid(QStringLiteral("step-").size())}),
                                  wordsOf(*edited), {});
  reject();
}

}  // namespace heddle::gui
