// A checkpoint's model for other programs: weights, settings and tokenizer, in one folder that
// transformers loads.
#pragma once

#include <string>

#include "base/result.h"
#include "engine/checkpoint/convert.h"

namespace heddle::data {

/// FROM, a checkpoint, as the Hugging Face folder TO (see checkpoint::convert), with the settings
/// and the tokenizer that the model came with (checkpoint::companions_of), else the run's
/// tokenizer. `tokenizer`: another tokenizer.json, with its settings; empty: the run's. Notes say
/// what the folder lacks.
Result<checkpoint::Notes> export_model(const std::string& from, const std::string& to,
                                       checkpoint::Export how = {},
                                       const std::string& tokenizer = {});

}  // namespace heddle::data
