// toml++ as Heddle uses it: header only, errors as values. Only this folder's .cpp files include
// it.
#pragma once

#define TOML_EXCEPTIONS 0
#define TOML_HEADER_ONLY 1
#define TOML_ENABLE_FORMATTERS 0
#include <toml++/toml.h>
