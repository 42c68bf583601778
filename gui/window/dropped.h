// Files and folders that were dropped on the window: what each is, and what can be done with it.
// Plain data. Reads names, first bytes and stores: not for the GUI's thread.
#pragma once

#include <QString>
#include <QStringList>
#include <vector>

namespace heddle::gui {

struct Dropped {
  enum class Kind {
    recipe,   // opened in Compose
    store,    // another store: imported, or opened in a window of its own
    runs,     // a run or a folder with some: imported
    refused,  // `words` say why
  };
  QString path = {};
  Kind kind = Kind::refused;
  qint64 runs = 0;     // of a store
  QString words = {};  // "store of 12 runs"

  bool isImported() const { return kind == Kind::store || kind == Kind::runs; }
};

/// Each path once, in their order. `ownStore`: the window's.
std::vector<Dropped> lookAtDropped(const QStringList& paths, const QString& ownStore);

/// The kinds of files that may be dropped, for messages.
QString droppable();

/// By its name alone: whether it may be one of these, so that a drag is taken.
bool mayBeDropped(const QString& path);

}  // namespace heddle::gui
