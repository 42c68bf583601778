#include "workbench/importers/heddle_run.h"
#include "workbench/importers/heddle_store.h"
#include "workbench/importers/importer.h"

namespace heddle::workbench {

extern const Importer kCsvLog;

const std::vector<const Importer*>& importers() {
  static const std::vector<const Importer*> all{&kHeddleRun, &kHeddleStore, &kCsvLog};
  return all;
}

}  // namespace heddle::workbench
