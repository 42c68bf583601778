#include "engine/runs/engine_program.h"

#include <cstdlib>

#include "base/own_program.h"

namespace heddle::runs {

std::string engine_program() {
  if (const char* named = std::getenv("HEDDLE_ENGINE"); named && *named) return named;
  return own_program();
}

}  // namespace heddle::runs
