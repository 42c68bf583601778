#include "base/build_id.h"

#include "base/build_mark.h"

std::string_view heddle::build_id() { return std::string_view(kMarked).substr(kBuildMark.size()); }
