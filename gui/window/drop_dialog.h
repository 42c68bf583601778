// Asks what to do with dropped files where that is not clear: a store can be opened in a window of
// its own or taken over into this one's, and of several things some may be useless.
#pragma once

#include <vector>

#include "gui/widgets/dialog.h"
#include "gui/window/dropped.h"

class QGridLayout;

namespace heddle::gui {

class DropDialog : public Dialog {
  Q_OBJECT

 public:
  /// More of them are counted, not listed.
  static constexpr size_t kMaxLines = 50;

  DropDialog(const std::vector<Dropped>& all, QWidget* parent);

 Q_SIGNALS:
  void importWanted(const QStringList& paths);
  void storeWanted(const QString& path);
  void recipeWanted(const QString& path);

 private:
  void addLine(QGridLayout& lines, const Dropped& one);
};

}  // namespace heddle::gui
