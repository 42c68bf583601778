// How long a step computes in each module. Plain functions.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "engine/plan/document.h"

namespace heddle::gui {

/// Seconds of compute by module, the layers' together: "attention.wq", "ffn_norm", "output". For
/// one rank of each pipeline stage, forward and backward. Empty where the spans are of whole
/// layers, as in large plans. Any thread.
std::map<std::string, double> moduleTimes(const std::vector<plan::RankTimeline>& timelines);

}  // namespace heddle::gui
