// Weights to start from: a Hugging Face folder or a checkpoint of Heddle's.
#pragma once

#include <string>
#include <variant>
#include <vector>

#include "base/result.h"
#include "engine/checkpoint/hugging_face.h"
#include "engine/checkpoint/reader.h"

namespace heddle::checkpoint {

/// The model that a folder's config.json or manifest describes (preset and checkpoint are empty);
/// see read_hugging_face_model.
Result<recipe::Model> read_model(const std::string& folder);

/// Threads: const members may run side by side.
class Weights {
 public:
  /// An error tells if the weights are another model's, of a newer format or damaged.
  static Result<Weights> open(const std::string& folder, const recipe::Model& model);

  /// See HuggingFaceCheckpoint::notes.
  std::vector<std::string> notes() const;

  /// Rows and columns of a parameter, by Heddle's name and in Heddle's layout. A number that is not
  /// finite is an error that says where it is.
  Result<> read(const holdings::Parameter& parameter, const holdings::Box& box, float* out) const;

 private:
  using Source = std::variant<HuggingFaceCheckpoint, Checkpoint>;
  Weights(std::string folder, Source source)
      : folder_(std::move(folder)), source_(std::move(source)) {}
  std::string folder_;
  Source source_;
};

/// All of a parameter.
holdings::Box whole_box(const holdings::Parameter& parameter);

}  // namespace heddle::checkpoint
