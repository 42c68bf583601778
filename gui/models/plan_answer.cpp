#include "gui/models/plan_answer.h"

#include <string_view>

namespace heddle::gui {
namespace {

std::string_view viewOf(const QByteArray& line) {
  return {line.constData(), static_cast<size_t>(line.size())};
}

}  // namespace

QByteArray questionLine(const plan::Asked& asked) {
  return QByteArray::fromStdString(plan::line_of(asked)) + '\n';
}

quint64 answerId(const QByteArray& line) { return plan::answer_id(viewOf(line)).value_or(0); }

PlanAnswer readAnswer(const QByteArray& line) {
  plan::Answer answer = plan::read_answer(viewOf(line));
  PlanAnswer read{answer.id.value_or(0), nullptr, Error{}};
  if (auto* plan = std::get_if<plan::Document>(&answer.reply))
    read.prediction = predictionOf(std::move(*plan));
  else
    read.reply = std::move(answer.reply);
  return read;
}

}  // namespace heddle::gui
