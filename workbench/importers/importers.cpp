#include "workbench/importers/heddle_run.h"
#include "workbench/importers/importer.h"

namespace heddle::workbench {

const std::vector<const Importer*>& importers() {
  static const std::vector<const Importer*> all{&kHeddleRun};
  return all;
}

}  // namespace heddle::workbench
