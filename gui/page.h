// A page of the window: what the window needs to know of it. GUI thread only.
#pragma once

#include <QAction>
#include <QList>
#include <QString>
#include <QWidget>
#include <vector>

namespace heddle::gui {

class Session;
struct PlannedRecipe;

/// Pages are made once, with the session, and live as long as the window. They load lazily: nothing
/// is read before `activated` or a `show…` call.
class Page : public QWidget {
  Q_OBJECT

 public:
  explicit Page(Session& session, QWidget* parent = nullptr) : QWidget(parent), session_(session) {}

  /// Stable name, as in `heddle render live`: compose, launch, live, runs, compare, targets.
  virtual QString name() const = 0;
  /// On screen, in the top bar and the rail.
  virtual QString title() const = 0;
  /// Beside the title, muted: "25 of 184 runs, 3 selected". Emit headerChanged when it changes.
  virtual QString subtitle() const { return {}; }
  /// Widgets in the top bar after the title while the page is shown (a run picker); may
  /// be null. The window takes the widget.
  virtual QWidget* headerWidget() { return nullptr; }
  /// The page's actions: shown as buttons at the right of the top bar when their property
  /// "topBar" is true (property "role": "primary" | "danger" as of buttons), and all of them in the
  /// command palette. Made once.
  virtual QList<QAction*> pageActions() { return {}; }

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
  /// The window begins: takes on the layout of the last time (columns, splitters), and from now on
  /// keeps it in the settings as it changes. A picture is rendered without.
  virtual void keepLayout() {}
  /// True when nothing asked for is still being loaded: the picture is complete.
  virtual bool isReady() const { return true; }

 Q_SIGNALS:
  /// Title, subtitle or actions changed.
  void headerChanged();

 protected:
  Session& session() const { return session_; }

 private:
  Session& session_;
};

}  // namespace heddle::gui
