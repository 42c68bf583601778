#include "remote/container.h"

#include <algorithm>
#include <string_view>

#include "base/excerpt.h"

namespace heddle::remote {
namespace {

constexpr std::string_view kApptainer = "apptainer:", kPyxis = "pyxis:";

/// Commas and colons part what apptainer and pyxis bind.
bool is_plain(std::string_view text) {
  return std::ranges::none_of(text, [](char c) {
    return static_cast<unsigned char>(c) <= ' ' || c == 127 || c == ',' || c == '"' || c == '\'';
  });
}

}  // namespace

Result<Container> parse_container(const std::string& text) {
  const bool apptainer = text.starts_with(kApptainer);
  if (!apptainer && !text.starts_with(kPyxis))
    return fail("container \"{}\"; valid: apptainer:IMAGE or pyxis:IMAGE", excerpt(text, 80));
  Container container{.kind = apptainer ? Container::Kind::apptainer : Container::Kind::pyxis,
                      .image = text.substr(apptainer ? kApptainer.size() : kPyxis.size())};
  const std::string& image = container.image;
  if (image.empty() || image.starts_with('-') || !is_plain(image))
    return fail(
        "container \"{}\": \"{}\" names no image; valid: a file or an address, without "
        "blanks and commas",
        excerpt(text, 80), excerpt(image, 80));
  if (apptainer && !image.starts_with('/') && image.find("://") == std::string::npos)
    return fail("container \"{}\"; valid: an absolute path on the host, or as docker://NAME",
                excerpt(text, 80));
  return container;
}

std::vector<std::string> apptainer_words(const std::string& image,
                                         const std::vector<std::string>& folders, bool gpus) {
  std::vector<std::string> words{"apptainer", "exec"};
  if (gpus) words.emplace_back("--nv");
  for (const std::string& folder : folders) {
    words.emplace_back("--bind");
    words.push_back(folder + ":" + folder);
  }
  words.push_back(image);
  return words;
}

std::vector<std::string> pyxis_options(const std::string& image,
                                       const std::vector<std::string>& folders) {
  std::string mounts;
  for (const std::string& folder : folders)
    mounts += fmt::format("{}{}:{}", mounts.empty() ? "" : ",", folder, folder);
  return {"--container-image=" + image, "--container-mounts=" + mounts};
}

}  // namespace heddle::remote
