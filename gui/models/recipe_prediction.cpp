#include "gui/models/recipe_prediction.h"

#include "gui/format.h"

namespace heddle::gui {
namespace {

const QString kKey = QStringLiteral("compose");

/// "line 14: parallelism.tp: 8 ranks do not divide …; valid: 1, 2, 4, 8".
QString lineFault(const plan::Fault& fault) {
  QString words = fault.line > 0 ? QObject::tr("line %1: ").arg(fault.line) : QString();
  if (!fault.key.empty()) words += QString::fromStdString(fault.key) + QStringLiteral(": ");
  words += QString::fromStdString(fault.text);
  if (!fault.valid.empty())
    words += QObject::tr("; valid: %1").arg(QString::fromStdString(fault.valid));
  return words;
}

QString andMore(const QString& first, qsizetype count) {
  return count > 1
             ? QObject::tr("%1 (and %2)").arg(first, format::plural(count - 1, counted::kOther))
             : first;
}

}  // namespace

RecipePrediction::RecipePrediction(RecipeDocument& document, PlanClient& client, QObject* parent)
    : QObject(parent), document_(document), client_(client) {
  connect(&document_, &RecipeDocument::changed, this, &RecipePrediction::ask);
  connect(&client_, &PlanClient::catalogueChanged, this, &RecipePrediction::changed);
  connect(&client_, &PlanClient::troubleChanged, this, &RecipePrediction::changed);
  connect(&client_, &PlanClient::planned, this,
          [this](const QString& key, const std::shared_ptr<const Prediction>& prediction) {
            if (key == kKey) take(prediction);
          });
  connect(&client_, &PlanClient::faulty, this,
          [this](const QString& key, const std::vector<plan::Fault>& faults) {
            if (key == kKey)
              setRefused(andMore(lineFault(faults.front()), static_cast<qsizetype>(faults.size())));
          });
  connect(&client_, &PlanClient::failed, this, [this](const QString& key, const QString& why) {
    if (key == kKey) setRefused(why);
  });
}

void RecipePrediction::start() {
  if (std::exchange(started_, true)) return;
  ask();
}

void RecipePrediction::ask() {
  if (!started_) return;
  const QString of = document_.name() + QChar('\n') + document_.file();
  if (std::exchange(shownOf_, of) != of) {
    shown_ = {};
    staleReason_.clear();
  }
  shortfall_.reset();
  closing_ = false;
  // With faults too: the planner knows which of them matter to it.
  behind_ = true;
  client_.ask(kKey, questionOf(document_.text()));
  Q_EMIT changed();
}

void RecipePrediction::take(const std::shared_ptr<const Prediction>& prediction) {
  if (std::exchange(closing_, false)) {
    shortfall_ = prediction->document.shortfall;
    return setAnswered({});
  }
  // The newest question is of what the document says now.
  shown_ = {document_.isEdited() ? tr("%1, edited").arg(document_.name()) : document_.name(),
            document_.resolved().recipe, prediction};
  if (!prediction->document.fits()) askWhatCloses();
  setAnswered({});
}

/// After the plan has been shown, since it takes several more plans; the next edit puts its
/// question in place of this one.
void RecipePrediction::askWhatCloses() {
  plan::PlanQuestion question = questionOf(document_.text());
  question.timeline = false;
  question.closes = closing_ = true;
  client_.ask(kKey, question);
}

plan::PlanQuestion RecipePrediction::questionOf(const QString& text) const {
  plan::PlanQuestion question;
  question.text = text.toStdString();
  question.file = document_.file().isEmpty() ? document_.name().toStdString() + ".toml"
                                             : document_.file().toStdString();
  question.executor = executor_.toStdString();
  question.timeline = true;
  question.closes = false;  // asked for once the plan is shown
  return question;
}

const QStringList& RecipePrediction::executors() {
  static const QStringList words = {QStringLiteral("heddle"), QStringLiteral("compiled"),
                                    QStringLiteral("eager")};
  return words;
}

void RecipePrediction::setExecutor(const QString& executor) {
  if (executor == executor_ || !executors().contains(executor)) return;
  executor_ = executor;
  ask();
  Q_EMIT executorChanged();
}

void RecipePrediction::setRefused(const QString& why) {
  // The prediction shown is this recipe's; only the ways to close its shortfall are unknown.
  setAnswered(std::exchange(closing_, false) ? QString() : why);
}

void RecipePrediction::setAnswered(const QString& staleReason) {
  staleReason_ = staleReason;
  behind_ = false;
  Q_EMIT changed();
}

void RecipePrediction::pin() {
  pinned_ = shown_;
  Q_EMIT changed();
}

void RecipePrediction::unpin() {
  pinned_ = {};
  Q_EMIT changed();
}

std::vector<PlannedRecipe> RecipePrediction::two() const {
  std::vector<PlannedRecipe> two = {pinned_, shown_};
  if (pinned_.name == shown_.name) two[0].name = tr("%1, pinned").arg(pinned_.name);
  return two;
}

void RecipePrediction::nextConvention() {
  if (!shown() || shown()->document.mfu.empty()) return;
  convention_ = (convention_ + 1) % shown()->document.mfu.size();
  Q_EMIT changed();
}

}  // namespace heddle::gui
