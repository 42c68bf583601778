// A container that a run's supervisor and ranks are in, as a target has it.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"

namespace heddle::remote {

struct Container {
  /// apptainer: the supervisor is started in one. pyxis: Slurm's srun starts its tasks in one.
  enum class Kind { apptainer, pyxis };
  Kind kind = Kind::apptainer;
  std::string image;  // "/scratch/llama.sif", "docker://ubuntu:24.04"; pyxis: "nvcr.io#nvidia/…"
  bool operator==(const Container&) const = default;
};

/// "apptainer:IMAGE" or "pyxis:IMAGE".
Result<Container> parse_container(const std::string& text);

/// The words before a program that apptainer is to run. `folders`: absolute, the same inside.
std::vector<std::string> apptainer_words(const std::string& image,
                                         const std::vector<std::string>& folders, bool gpus);

/// Options of srun for pyxis.
std::vector<std::string> pyxis_options(const std::string& image,
                                       const std::vector<std::string>& folders);

}  // namespace heddle::remote
