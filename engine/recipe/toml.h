// toml++ as Heddle uses it: header only, errors as values. Included by readers of
// TOML files, never by what they offer.
#pragma once

#define TOML_EXCEPTIONS 0
#define TOML_HEADER_ONLY 1
#define TOML_ENABLE_FORMATTERS 0
// Version 3.3 asserts that a header such as "[!" cannot be, yet reports it well when it goes on.
#define TOML_ASSERT(expression) static_assert(true)
#include <toml++/toml.h>
