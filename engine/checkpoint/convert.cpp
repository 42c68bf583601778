#include "engine/checkpoint/convert.h"

#include <algorithm>
#include <filesystem>
#include <vector>

#include "base/durable_file.h"
#include "engine/checkpoint/companions.h"
#include "engine/checkpoint/rank_file.h"
#include "engine/checkpoint/step_folders.h"
#include "engine/checkpoint/weights.h"

namespace heddle::checkpoint {

using holdings::Parameter;
using holdings::Part;

namespace {

namespace fs = std::filesystem;

constexpr int64_t kFileBytes = int64_t{4} << 30;  // of one file, unless one tensor needs more

/// Parameters in files of about kFileBytes.
std::vector<std::vector<Part>> files_of(const std::vector<Parameter>& parameters) {
  std::vector<std::vector<Part>> files(1);
  int64_t bytes = 0;
  for (const Parameter& parameter : parameters) {
    Part part{parameter.name(), parameter.shape, whole_box(parameter)};
    const int64_t more = part.numbers() * static_cast<int64_t>(sizeof(float));
    if (bytes > 0 && bytes + more > kFileBytes) {
      files.emplace_back();
      bytes = 0;
    }
    files.back().push_back(std::move(part));
    bytes += more;
  }
  return files;
}

Result<Notes> to_checkpoint(const std::string& from, const std::string& to) {
  const auto source = HuggingFaceCheckpoint::open(from);
  if (!source) return fail(source);
  const auto partial = begin_checkpoint(to);
  if (!partial) return fail(partial);
  Manifest manifest;
  manifest.recipe.model = source->model();
  std::vector<float> rows;
  const NumberSource numbers = [&](const Part& part, int64_t begin,
                                   int64_t end) -> Result<std::span<const float>> {
    const int64_t columns = part.box.columns(), first = begin / columns;
    const int64_t last = (end + columns - 1) / columns;
    rows.resize(static_cast<size_t>((last - first) * columns));
    if (auto done = source->read_rows(part.name, first, last, rows.data()); !done)
      return fail(done);
    return std::span<const float>(rows).subspan(static_cast<size_t>(begin - first * columns),
                                                static_cast<size_t>(end - begin));
  };
  int number = 0;
  for (const std::vector<Part>& parts : files_of(source->parameters())) {
    auto written =
        write_rank_file(*partial, fmt::format("weights-{}.safetensors", number++), parts, numbers);
    if (!written) return fail(written);
    manifest.contents.add(std::move(*written));
  }
  if (auto done = copy_companions(from, *partial + '/' + kCompanions); !done) return fail(done);
  if (auto done = commit_checkpoint(*partial, to, manifest); !done) return fail(done);
  return source->notes();
}

Result<> to_hugging_face(const std::string& from, const std::string& to, const Export& how,
                         const WriteBeside& beside) {
  const auto model = read_model(from);
  if (!model) return fail(model);
  const auto source = Weights::open(from, *model);
  if (!source) return fail(source);
  const auto partial = begin_checkpoint(to);
  if (!partial) return fail(partial);
  if (auto done = write_hugging_face(
          *partial, *model,
          [&](const Parameter& parameter, int64_t begin, int64_t end, float* out) {
            return source->read(parameter, {begin, end, 0, parameter.columns()}, out);
          },
          how);
      !done)
    return done;
  if (beside)
    if (auto done = beside(*partial); !done) return done;
  return rename_durably(*partial, to);
}

}  // namespace

std::string checkpoint_meant(const std::string& folder) {
  if (is_checkpoint(folder)) return folder;
  const std::vector<std::string> inside = checkpoints_in(folder);
  return inside.empty() ? folder : (fs::path(folder) / inside.front()).string();
}

Result<Notes> convert(const std::string& folder, const std::string& to, const Export& how,
                      const WriteBeside& beside) {
  const std::string from = checkpoint_meant(folder);
  if (fs::exists(to)) return fail("{}: exists already; valid: a new folder", to);
  fs::path whole = fs::absolute(to).lexically_normal();
  if (!whole.has_filename()) whole = whole.parent_path();  // "out/"
  const std::string path = whole.string(), above = whole.parent_path();
  std::error_code error;
  fs::create_directories(above, error);
  if (error) return fail("{}: cannot be created: {}", above, error.message());
  Result<Notes> done = Notes();
  if (!is_checkpoint(from))
    done = to_checkpoint(from, path);
  else if (auto written = to_hugging_face(from, path, how, beside); !written)
    done = fail(written);
  if (!done) {
    std::error_code ignored;
    fs::remove_all(path + ".partial", ignored);
  }
  return done;
}

}  // namespace heddle::checkpoint
