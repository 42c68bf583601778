// The list of targets, painted: dot, name, address, state.
#pragma once

#include <QListView>

#include "gui/views/targets/target_list_model.h"

namespace heddle::gui {

class HostList : public QListView {
  Q_OBJECT

 public:
  explicit HostList(TargetListModel& model, QWidget* parent = nullptr);
};

}  // namespace heddle::gui
