// The plan of a recipe as another program runs it: no passes, no simulation; a layer's parts are
// put together by what is published of the program.
#pragma once

#include "base/result.h"
#include "engine/plan/document.h"
#include "engine/predict/predict.h"

namespace heddle::predict {

/// `machine.program` is set. A prediction takes a capture of one layer, and what is remembered of
/// that serves all recipes with such layers.
Result<plan::Document> predict_program(const recipe::Recipe& recipe, const Machine& machine,
                                       const PredictOptions& options);

}  // namespace heddle::predict
