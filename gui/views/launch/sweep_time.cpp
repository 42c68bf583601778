#include "gui/views/launch/sweep_time.h"

#include "engine/recipe/parse.h"

namespace heddle::gui {
namespace {

constexpr size_t kMaxKindsPlanned = 8;

/// The settings that change what a step computes or moves.
std::string kindOf(const workbench::SweepRun& run) {
  std::string kind;
  for (const std::string& set : run.sets) {
    const recipe::KeyInfo* info = recipe::find_key(set.substr(0, set.find('=')));
    if (info && !info->graph.empty()) kind += set + '\n';
  }
  return kind;
}

}  // namespace

SweepTime::SweepTime(const QString& engine, QObject* parent)
    : QObject(parent), client_(engine, PlanClient::kPatience, this) {
  connect(&client_, &PlanClient::planned, this,
          [this](const QString& key, const std::shared_ptr<const Prediction>& prediction) {
            const auto kind = kinds_.find(key);
            if (kind == kinds_.end()) return;
            kind->second.stepSeconds = prediction->document.step_seconds;
            Q_EMIT changed();
          });
  const auto refuse = [this](const QString& key, const QString& why) {
    if (!kinds_.contains(key)) return;
    trouble_ = why;
    Q_EMIT changed();
  };
  connect(&client_, &PlanClient::failed, this, refuse);
  connect(&client_, &PlanClient::faulty, this,
          [refuse](const QString& key, const std::vector<plan::Fault>& faults) {
            refuse(key, QString::fromStdString(faults.front().text));
          });
}

void SweepTime::forget() {
  kinds_.clear();
  otherSteps_ = 0;
  trouble_.clear();
}

void SweepTime::ask(const SweptRecipe& recipe, const std::vector<workbench::SweepRun>& runs) {
  forget();
  QHash<QString, QString> keys;  // the planner's by kind
  for (const workbench::SweepRun& run : runs) {
    const int64_t steps = stepsOf(recipe, run);
    const QString kind = QString::fromStdString(kindOf(run));
    if (!keys.contains(kind) && kinds_.size() == kMaxKindsPlanned) {
      otherSteps_ += steps;
      continue;
    }
    const bool isNew = !keys.contains(kind);
    if (isNew) keys[kind] = QStringLiteral("sweep-%1").arg(keys.size());
    kinds_[keys[kind]].steps.push_back(steps);
    if (!isNew) continue;
    plan::PlanQuestion question;
    question.text = recipe.text.toStdString();
    question.file = recipe.file.toStdString();
    question.sets = run.sets;
    question.ranks = recipe.ranks;
    question.closes = false;
    client_.ask(keys[kind], question);
  }
  Q_EMIT changed();
}

std::optional<double> SweepTime::seconds() const {
  double seconds = 0, steps = 0;
  for (const auto& [key, kind] : kinds_) {
    if (!kind.stepSeconds) return std::nullopt;
    for (const int64_t each : kind.steps) {
      seconds += *kind.stepSeconds * static_cast<double>(each);
      steps += static_cast<double>(each);
    }
  }
  if (steps == 0) return std::nullopt;
  return seconds + seconds / steps * static_cast<double>(otherSteps_);
}

}  // namespace heddle::gui
