// Which process groups reach along the pipeline.
#pragma once

#include <string>

namespace heddle::recipe {

/// Whether a group of that name (mesh.h) has ranks of several pipeline stages: the pipeline is the
/// outermost dimension, and so the first of a name.
inline bool joins_stages(const std::string& group) { return group.starts_with("pp"); }

}  // namespace heddle::recipe
