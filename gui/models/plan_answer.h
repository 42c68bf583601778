// Answers of the planning process, as they come over the wire (engine/plan/question.h).
#pragma once

#include <QByteArray>
#include <QMetaType>
#include <memory>

#include "engine/plan/question.h"
#include "gui/models/prediction.h"

namespace heddle::gui {

struct PlanAnswer {
  quint64 id = 0;                                // 0: none
  std::shared_ptr<const Prediction> prediction;  // of a plan; `reply` is nothing then
  decltype(plan::Answer::reply) reply;
};

/// The question's line, ended.
QByteArray questionLine(const plan::Asked& asked);

/// The id of an answer's line, without reading the rest of it; 0: it has none.
quint64 answerId(const QByteArray& line);
/// Any thread. A line that is no answer becomes one with an error.
PlanAnswer readAnswer(const QByteArray& line);

}  // namespace heddle::gui

Q_DECLARE_METATYPE(heddle::gui::PlanAnswer)
