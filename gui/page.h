// A page of the window: what the window needs to know of it. GUI thread only.
#pragma once

#include <QAction>
#include <QCoreApplication>
#include <QJsonObject>
#include <QList>
#include <QString>
#include <QWidget>
#include <vector>

#include "gui/widgets/key_table.h"

namespace heddle::gui {

class Page;
class Session;
struct PlannedRecipe;

/// A page in the window's list (window/pages.cpp).
struct PageEntry {
  const char* name;   // stable, as in `heddle render live`
  const char* title;  // on screen, in the top bar and the rail; translated in the context "Pages"
  const char* icon;   // of resources/icons
  Qt::Key key;        // with Ctrl: goes there
  const char* help;   // a few sentences for a first visit; translated alike
  Page* (*make)(Session& session, QWidget* parent);
  bool inRail = true;

  QString shownTitle() const { return QCoreApplication::translate("Pages", title); }
};

/// Pages are made once, when they are first needed (window/page_stack.h), and live as long as the
/// window. They load lazily: nothing is read before `activated` or a `show…` call.
class Page : public QWidget {
  Q_OBJECT

 public:
  explicit Page(Session& session, QWidget* parent = nullptr) : QWidget(parent), session_(session) {}

  /// The window sets it; `name` and `title` are the entry's.
  void setEntry(const PageEntry& entry) { entry_ = &entry; }
  QString name() const { return QLatin1String(entry_->name); }
  QString title() const { return entry_->shownTitle(); }
  QString help() const { return QCoreApplication::translate("Pages", entry_->help); }
  /// Beside the title, muted: "25 of 184 runs, 3 selected". Emit headerChanged when it changes.
  virtual QString subtitle() const { return {}; }
  /// Widgets in the top bar after the title while the page is shown (a run picker); may
  /// be null. The window takes the widget.
  virtual QWidget* headerWidget() { return nullptr; }
  /// The page's actions: shown as buttons at the right of the top bar when their property
  /// "topBar" is true (property "role": "primary" | "danger" as of buttons), and all of them in the
  /// command palette. Made once.
  virtual QList<QAction*> pageActions() { return {}; }
  /// The keys of its widgets that are no actions, for the help.
  virtual QList<KeyTable> keys() const { return {}; }
  /// Puts the keyboard into the page's search: the one that is nearest to where the keyboard is.
  /// False: the page has none.
  virtual bool find();

  /// The page has become visible (each time), or the store has changed while it is.
  virtual void activated() {}
  /// Puts one run at the centre; pages that do not show runs ignore it.
  virtual void showRun(qint64 run) { Q_UNUSED(run) }
  /// Puts several runs side by side (Compare).
  virtual void showRuns(const QList<qint64>& runs) {
    if (!runs.isEmpty()) showRun(runs.first());
  }
  /// The same of predicted plans (Compare); other pages ignore it.
  virtual void showPlans(const std::vector<PlannedRecipe>& plans) { Q_UNUSED(plans) }
  /// The run's prediction against its measurement, node by node (Compare).
  virtual void showNodes(qint64 run) { Q_UNUSED(run) }
  /// A recipe to edit (Compose) or to launch (Launch). `file` may be empty: a recipe of a run.
  /// Other pages ignore it.
  virtual void showRecipe(const QString& name, const QString& toml, const QString& file) {
    Q_UNUSED(name)
    Q_UNUSED(toml)
    Q_UNUSED(file)
  }
  /// Marks a place of the recipe's text, 1-based (Compose).
  virtual void showPlace(int line, int column) {
    Q_UNUSED(line)
    Q_UNUSED(column)
  }
  /// Takes on the layout of the last time (columns, splitters), and from now on keeps it in the
  /// settings as it changes. A picture is rendered without.
  virtual void keepLayout() {}
  /// Columns, charts, splitters and the like are as on the first day again.
  virtual void resetLayout() {}
  /// The state that a restart on this store restores: runs, choices, places; no layout.
  /// Asked once a second.
  virtual QJsonObject keptState() const { return {}; }
  /// Takes on what keptState gave, before the first `activated`. Runs that have gone since are left
  /// out without a word.
  virtual void restoreState(const QJsonObject& state) { Q_UNUSED(state) }
  /// True when nothing asked for is still being loaded: the picture is complete.
  virtual bool isReady() const { return true; }

 Q_SIGNALS:
  /// Title, subtitle or actions changed.
  void headerChanged();

 protected:
  Session& session() const { return session_; }

 private:
  Session& session_;
  const PageEntry* entry_ = nullptr;
};

}  // namespace heddle::gui
