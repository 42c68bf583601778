#include "workbench/workbench.h"

#include <filesystem>

#include "workbench/import.h"
#include "workbench/importers/heddle_run.h"
#include "workbench/paths.h"

namespace heddle::workbench {

Result<std::unique_ptr<Workbench>> Workbench::open(const std::string& store_path,
                                                   Follower::Changed changed) {
  const bool is_new = !std::filesystem::exists(store_path);
  Result<std::unique_ptr<storage::Writer>> writer = storage::Writer::open(store_path);
  if (!writer) return fail(writer);
  return std::unique_ptr<Workbench>(
      new Workbench(store_path, is_new, std::move(*writer), std::move(changed)));
}

Workbench::Workbench(std::string store_path, bool is_new, std::unique_ptr<storage::Writer> writer,
                     Follower::Changed changed)
    : store_path_(std::move(store_path)),
      is_new_(is_new),
      writer_(std::move(writer)),
      follower_(store_path_, *writer_, changed),
      scheduler_(store_path_, *writer_, std::move(changed)) {}

Result<> import_sample_run(Workbench& workbench) {
  const std::string sample = resources_folder() + "/sample-run";
  if (!workbench.is_new() || !std::filesystem::exists(sample)) return {};
  if (!workbench.writer().take_lease()) return {};
  storage::Writer& writer = workbench.writer();
  const auto imported = import_run(writer, {sample, &kHeddleRun}, kSampleRun);
  if (!imported) return fail(imported);
  writer.set_notes(imported->id, "A sample that came with Heddle, trained by two ranks.");
  const auto tagged = writer.change_tags(imported->id, {kSampleRun}).get();
  return tagged ? Result<>{} : fail(tagged);
}

}  // namespace heddle::workbench
