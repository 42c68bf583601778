#include "workbench/importers/heddle_run.h"
#include "workbench/importers/importer.h"

namespace heddle::workbench {

extern const Importer kCsvLog;

const std::vector<const Importer*>& importers() {
  static const std::vector<const Importer*> all{&kHeddleRun, &kCsvLog};
  return all;
}

}  // namespace heddle::workbench
