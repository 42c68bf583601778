#include "gui/views/lineage/reproduce_dialog.h"

#include "gui/format.h"
#include "gui/widgets/layouts.h"

namespace heddle::gui {
namespace {

constexpr int kComparedHeight = 150;

}  // namespace

ReproduceDialog::ReproduceDialog(Session& session, storage::RunId run, QWidget* parent)
    : Dialog(tr("Reproduce run"), QStringLiteral("launch"), Tone::accent, parent),
      session_(session),
      id_(run),
      looking_(session.workingThreads(), this),
      launching_(session.workingThreads(), this) {
  setObjectName(QStringLiteral("reproduceDialog"));
  setMinimumWidth(560);
  words_ = label(tr("Comparing its data, engine and machine with what is here now …"));
  words_->setObjectName(QStringLiteral("words"));
  words_->setWordWrap(true);
  words_->setTextInteractionFlags(Qt::TextSelectableByMouse | Qt::TextSelectableByKeyboard);
  body()->addWidget(words_);
  QVBoxLayout* room = addRoom(kComparedHeight, 4);
  lines_ = new QVBoxLayout;
  lines_->setSpacing(6);
  room->addLayout(lines_);
  room->addStretch(1);
  QPushButton* cancel = quietButton(tr("Cancel"));
  start_ = primaryButton(tr("Launch again"), QStringLiteral("launch"));
  start_->setObjectName(QStringLiteral("start"));
  start_->setEnabled(false);
  start_->setDefault(true);
  addButton(cancel);
  addButton(start_);
  connect(cancel, &QPushButton::clicked, this, &QDialog::reject);
  connect(start_, &QPushButton::clicked, this, &ReproduceDialog::start);
  // Closing the dialog before the ranks run takes the launch back.
  connect(this, &QDialog::rejected, this, [this] { *cancelled_ = true; });
  look();
}

ReproduceDialog::~ReproduceDialog() { *cancelled_ = true; }

void ReproduceDialog::look() {
  session_.work(
      looking_,
      [id = id_](workbench::Workbench& workbench) -> Result<workbench::Reproduction> {
        auto reader = storage::Reader::open(workbench.store_path());
        if (!reader) return fail(reader);
        const auto run = reader->run(id);
        if (!run) return fail(run);
        return workbench::plan_reproduction(*reader, *run);
      },
      [this](Result<workbench::Reproduction> plan) {
        if (!plan) return complain(plan.error().message);
        plan_ = std::move(*plan);
        display(*plan_);
      });
}

void ReproduceDialog::display(const workbench::Reproduction& plan) {
  words_->setText(
      plan.differences.empty()
          ? tr("%1 is launched with the same recipe, seeds and mode, on %2. All that the run "
               "recorded is as it was.")
                .arg(QString::fromStdString(plan.request.name),
                     QString::fromStdString(plan.request.target.name))
          : tr("%1 is launched with the same recipe, seeds and mode, on %2. Not all is as it was: "
               "the numbers may differ.")
                .arg(QString::fromStdString(plan.request.name),
                     QString::fromStdString(plan.request.target.name)));
  for (const std::string& text : plan.differences) add(QStringLiteral("warning"), Tone::warn, text);
  for (const std::string& text : plan.same) add(QStringLiteral("check"), Tone::good, text);
  start_->setEnabled(true);
  start_->setFocus();
}

void ReproduceDialog::add(const QString& iconName, Tone tone, const std::string& text) {
  auto* whole = new QWidget;
  QHBoxLayout* row = rowOf(whole, {}, 8);
  auto* symbol = new Symbol(14, iconName, tone);
  symbol->setFixedSize(16, 18);
  QLabel* words = label(QString::fromStdString(text));
  words->setWordWrap(true);
  words->setTextInteractionFlags(Qt::TextSelectableByMouse);
  row->addWidget(symbol, 0, Qt::AlignTop);
  row->addWidget(words, 1);
  lines_->addWidget(whole);
}

void ReproduceDialog::complain(const std::string& why) {
  setRole(words_, "error");
  words_->setText(QString::fromStdString(why));
  start_->setEnabled(plan_.has_value());
}

void ReproduceDialog::start() {
  if (!plan_ || launching_.running()) return;
  start_->setEnabled(false);
  session_.act(
      launching_,
      [request = plan_->request,
       cancelled = cancelled_](workbench::Workbench& workbench) -> Result<storage::RunId> {
        const auto run =
            workbench::launch(workbench.writer(), request,
                              [&](const std::string&, uint64_t, uint64_t) { return !*cancelled; });
        if (!run) return fail("{}", run.error().message);
        return run->id;
      },
      [this](const Result<storage::RunId>& run) {
        if (!run) return complain(run.error().message);
        Q_EMIT session_.runRequested(QStringLiteral("live"), *run);
        accept();
      });
}

}  // namespace heddle::gui
