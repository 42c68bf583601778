#include "gui/models/alternatives.h"

namespace heddle::gui {

Alternatives::Alternatives(RecipePrediction& prediction, QString name, QObject* parent)
    : QObject(parent), prediction_(prediction), name_(std::move(name)) {
  PlanClient& client = prediction_.client();
  connect(&client, &PlanClient::planned, this,
          [this](const QString& key, const std::shared_ptr<const Prediction>& prediction) {
            if (const int index = indexOf(key); index >= 0) Q_EMIT answered(index, prediction);
          });
  connect(&client, &PlanClient::faulty, this,
          [this](const QString& key, const std::vector<plan::Fault>& faults) {
            if (const int index = indexOf(key); index >= 0)
              Q_EMIT refused(index, QString::fromStdString(faults.front().text));
          });
  connect(&client, &PlanClient::failed, this, [this](const QString& key, const QString& why) {
    if (const int index = indexOf(key); index >= 0) Q_EMIT refused(index, why);
  });
}

void Alternatives::ask(const QStringList& texts) {
  count_ = static_cast<int>(texts.size());
  for (int i = 0; i < count_; ++i) {
    plan::PlanQuestion question = prediction_.questionOf(texts[i]);
    question.timeline = false;
    prediction_.client().ask(name_ + QChar(' ') + QString::number(i), question);
  }
}

int Alternatives::indexOf(const QString& key) const {
  if (key.section(QChar(' '), 0, 0) != name_) return -1;
  const int index = key.section(QChar(' '), 1).toInt();
  return index < count_ ? index : -1;
}

}  // namespace heddle::gui
