#include "engine/predict/run_plan.h"

#include "engine/predict/predict.h"

namespace heddle::predict {

Result<plan::Document> plan_of_run(const recipe::Recipe& recipe, const cost::Rates& rates,
                                   const std::string& executed) {
  auto document =
      predict(recipe, machine_of_run(recipe, rates), {.hardware = {}, .timeline = true});
  if (document && document->plan_hash.empty()) document->plan_hash = executed;
  return document;
}

}  // namespace heddle::predict
