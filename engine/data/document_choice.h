// Which documents of a text a token store holds.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace heddle::data {

/// The two parts that data.held_out makes: for training, and for validation.
enum class Part { training, held_out };

struct DocumentChoice {
  std::string field;    // of a JSON document, with its text
  double held_out = 0;  // share of the documents; 0: none is asked
  Part part = Part::training;
  int64_t most = 0;  // of the documents chosen only the first; 0: all

  /// Whether a document is in the part: by its text, or a text file's by the file's name, so that
  /// the same document is always held out, wherever it is and however often.
  bool takes(std::string_view identity) const;
};

}  // namespace heddle::data
