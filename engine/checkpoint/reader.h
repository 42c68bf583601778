// A checkpoint opened for reading, by any rank of any layout.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <string>

#include "base/result.h"
#include "engine/checkpoint/manifest.h"

namespace heddle::checkpoint {

/// Whether a folder is a checkpoint, damaged or not: it has a manifest.
bool is_checkpoint(const std::string& folder);

/// Everything that is read is verified by its hash. Threads: const members may run side by side.
class Checkpoint {
 public:
  /// Reads the manifest and checks that tensors are covered by their shards. An error says what is
  /// damaged. Files are opened when they are needed.
  static Result<Checkpoint> open(const std::string& folder);

  const std::string& folder() const { return folder_; }
  const Manifest& manifest() const { return manifest_; }

  /// Whether it can be read at all and is of this model: a newer format, or the numbers that
  /// differ. `check_format` alone where any model will do.
  Result<> check_format() const;
  Result<> check_model(const recipe::Model& model) const;
  /// Whether a run of this recipe can go on from it: its model, and its optimizer's states.
  Result<> check_resumable(const recipe::Recipe& recipe) const;

  /// Rows and columns of a tensor, row by row into `out`. Pieces of shards that overlap the box are
  /// read once. An error says which file is missing or damaged, and where.
  Result<> read(const std::string& tensor, const holdings::Box& box, float* out) const;

 private:
  class File;
  Checkpoint() = default;
  Result<std::shared_ptr<const File>> file(const std::string& name) const;

  struct OpenFiles {
    std::mutex mutex;
    std::map<std::string, std::shared_ptr<const File>> by_name;
  };
  std::string folder_;
  Manifest manifest_;
  std::shared_ptr<OpenFiles> files_;
};

}  // namespace heddle::checkpoint
