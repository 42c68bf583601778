// A plan document as pages show it: read and indexed where it arrives, shared from there on.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "engine/plan/document.h"
#include "gui/timeline/timeline_data.h"
#include "workbench/step_plan.h"

namespace heddle::gui {

/// Immutable once made. The document's spans have moved into `timelines`; its memory curves have
/// stayed.
struct Prediction {
  plan::Document document;
  std::vector<std::shared_ptr<const Timeline>> timelines;  // of document.timelines
  std::shared_ptr<const workbench::StepPlan> plan;         // of their spans
  std::map<std::string, double> moduleSeconds;             // see moduleTimes
};

/// Any thread; it takes a while for large plans.
std::shared_ptr<const Prediction> predictionOf(plan::Document document);

}  // namespace heddle::gui
