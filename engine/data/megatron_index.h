// Megatron-LM's index (.idx) of a file of token ids (.bin).
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "base/plain_file.h"
#include "base/result.h"
#include "engine/data/stored_ids.h"

namespace heddle::data {

/// Which type the ids have, and where documents begin. A document is one sequence or several that
/// follow each other. Source: megatron/core/datasets/indexed_dataset.py. Any thread.
class MegatronIndex {
 public:
  /// Reads all of it, so that it can be relied on: sequences follow each other without a gap and
  /// fill the `data_bytes` of the .bin, documents are in their order. Errors begin with the path.
  static Result<MegatronIndex> open(const std::string& path, uint64_t data_bytes);

  IdType type() const { return type_; }
  /// Sets a flag for each of the ids from `first` on with which a document begins.
  Result<> flag_begins(int64_t first, std::span<uint8_t> begins) const;

 private:
  MegatronIndex(PlainFile file, IdType type) : file_(std::move(file)), type_(type) {}
  Result<> check_sequences(uint64_t data_bytes) const;
  Result<> check_documents() const;
  /// The byte of the .bin at which a document begins.
  Result<uint64_t> begin_of(uint64_t document) const;

  PlainFile file_;
  IdType type_;
  uint64_t sequences_ = 0;
  uint64_t documents_ = 0;  // entries: one more than documents, the last is `sequences_`
  uint64_t lengths_at_ = 0, places_at_ = 0, documents_at_ = 0;  // in the index
  uint64_t data_bytes_ = 0;
};

}  // namespace heddle::data
