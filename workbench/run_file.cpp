#include "workbench/run_file.h"

#include <unistd.h>

#include <filesystem>

#include "storage/store.h"
#include "workbench/import.h"
#include "workbench/importers/heddle_store.h"

namespace heddle::workbench {
namespace {

namespace fs = std::filesystem;

Result<> write_run(const std::string& store, storage::RunId run, const std::string& file) {
  {
    const auto writer = storage::Writer::open(file);
    if (!writer) return fail(writer);
    const auto imported = import_run(**writer, {path_of_run(store, run), &kHeddleStore});
    if (!imported) return fail(imported);
  }
  return storage::make_one_file(file);
}

}  // namespace

Result<> export_run_file(const std::string& store, const storage::RunSummary& run,
                         const std::string& file) {
  std::error_code error;
  if (fs::exists(fs::symlink_status(file, error)))
    return fail("{}: it is there already; valid: a new file", file);
  if (!storage::has_ended(run.state))
    return fail("{} is {}; it can be sent once it has ended", run.name,
                storage::to_string(run.state));
  const std::string part = fmt::format("{}.{}.part", file, getpid());
  Result<> written = write_run(store, run.id, part);
  if (written) {
    fs::rename(part, file, error);
    if (error) written = fail("{}: cannot be made: {}", file, error.message());
  }
  if (!written)
    for (const char* end : {"", "-wal", "-shm", "-journal"}) fs::remove(part + end, error);
  return written;
}

}  // namespace heddle::workbench
