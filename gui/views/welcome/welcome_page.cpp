#include "gui/views/welcome/welcome_page.h"

#include <QFileInfo>
#include <QGridLayout>

#include "gui/models/text_file.h"
#include "gui/theme/theme.h"
#include "gui/widgets/basics.h"
#include "gui/widgets/layouts.h"
#include "workbench/paths.h"
#include "workbench/workbench.h"

namespace heddle::gui {
namespace {

constexpr int kWelcomeWidth = 720;

}  // namespace

WelcomePage::WelcomePage(Session& session, QWidget* parent)
    : Page(session, parent), reading_(session.readingThread(), this) {
  auto* whole = new QWidget;
  whole->setFixedWidth(kWelcomeWidth);
  QVBoxLayout* column = columnOf(whole, {}, 16);
  column->addStretch(2);
  column->addWidget(label(tr("Train Llama models, and know where the time goes"), "title"));
  auto* words = muted(
      tr("Heddle predicts the memory and speed of a training run before it starts, trains on any "
         "machine you can reach, shows each step on each rank as it happens, and compares runs "
         "down to a single transfer."));
  words->setWordWrap(true);
  column->addWidget(words);

  openSample_ = choice("openSample", QStringLiteral("live"), tr("Open the sample run"),
                       tr("A small run that came with Heddle, trained on two ranks: curves, "
                          "timelines and a log to explore."),
                       &WelcomePage::openSample);
  openSample_->setEnabled(false);
  auto* grid = new QGridLayout;
  grid->setSpacing(12);
  grid->addWidget(openSample_, 0, 0);
  grid->addWidget(choice("welcomeTrain", QStringLiteral("launch"), tr("Train on this machine"),
                         tr("The sample recipe, about a minute with two ranks. No GPU is needed."),
                         &WelcomePage::train),
                  0, 1);
  grid->addWidget(
      choice("welcomePlan", QStringLiteral("compose"), tr("Plan Llama 3 8B on 8 × H100"),
             tr("A recipe with its predicted memory, speed and timeline. Change it and "
                "watch. Nothing runs."),
             &WelcomePage::plan),
      1, 0);
  grid->addWidget(choice("welcomeImport", QStringLiteral("folder"), tr("Import runs"),
                         tr("Run directories made elsewhere, by Heddle or another program."),
                         &WelcomePage::import),
                  1, 1);
  column->addLayout(grid);

  QPushButton* tour = quietButton(tr("Take the tour: three steps"), QStringLiteral("flag"));
  tour->setObjectName(QStringLiteral("tour"));
  connect(tour, &QPushButton::clicked, &session, &Session::tourRequested);
  auto* foot = new QHBoxLayout;
  foot->setSpacing(12);
  foot->addWidget(tour);
  foot->addWidget(muted(tr("F1 shows a page's help and all keys. Ctrl+0 brings you back here.")),
                  1);
  column->addLayout(foot);
  column->addStretch(3);

  auto* centred = new QWidget;
  auto* row = rowOf(centred, {metric::edge, metric::group, metric::edge, metric::group});
  row->addStretch(1);
  row->addWidget(whole);
  row->addStretch(1);
  QScrollArea* area = scrolled(centred);
  area->setAccessibleName(tr("Ways to begin"));
  columnOf(this)->addWidget(area);
}

ChoiceButton* WelcomePage::choice(const char* name, const QString& iconName, const QString& title,
                                  const QString& sentence, void (WelcomePage::*act)()) {
  auto* button = new ChoiceButton(iconName, title, sentence);
  button->setObjectName(QLatin1String(name));
  connect(button, &QAbstractButton::clicked, this, act);
  return button;
}

void WelcomePage::activated() {
  asked_ = true;
  session().read(
      reading_, [](storage::Reader& reader) { return reader.find_run(workbench::kSampleRun); },
      [this](const auto& run) {
        sample_ = run ? run->id : 0;
        openSample_->setEnabled(sample_ != 0);
        openSample_->setToolTip(sample_ != 0 ? QString() : tr("This store does not have it"));
      });
}

void WelcomePage::openSample() { Q_EMIT session().runRequested(QStringLiteral("live"), sample_); }

void WelcomePage::train() { Q_EMIT session().trainingRequested(); }

void WelcomePage::plan() {
  const QString file = QString::fromStdString(workbench::samples_folder()) +
                       QStringLiteral("/llama3-8b-8xh100.toml");
  const Result<QString> text = readText(file);
  if (!text)
    return Q_EMIT session().message(QString::fromStdString(text.error().message), Tone::bad);
  Q_EMIT session().recipeRequested(QStringLiteral("compose"), QFileInfo(file).completeBaseName(),
                                   *text, file);
}

void WelcomePage::import() {
  Q_EMIT session().pageRequested(QStringLiteral("runs"));
  Q_EMIT session().importRequested();
}

}  // namespace heddle::gui
