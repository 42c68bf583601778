#include "engine/build_id.h"

#include "engine/build_mark.h"

std::string_view heddle::build_id() { return std::string_view(kMarked).substr(kBuildMark.size()); }
