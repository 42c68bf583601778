// The store's tables as a list of migrations.
#pragma once

#include <span>

namespace heddle::storage {

class Connection;

/// One step of the schema. `fill` makes the rows of new tables where a store has some.
struct Migration {
  const char* sql = nullptr;
  void (*fill)(Connection&) = nullptr;
};

/// Migration i takes a store from schema i to i + 1; an empty file has schema 0.
std::span<const Migration> migrations();

}  // namespace heddle::storage
