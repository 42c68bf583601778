// Shared by all pages: the store, background reading and writing, the signal that something
// changed, and the ways from page to page. GUI thread only.
#pragma once

#include <QHash>
#include <QObject>
#include <QString>
#include <QTimer>
#include <functional>
#include <future>
#include <memory>
#include <mutex>
#include <optional>

#include "base/guard.h"
#include "gui/models/current_recipe.h"
#include "gui/models/planned_recipe.h"
#include "gui/models/worker.h"
#include "gui/theme/icons.h"
#include "gui/theme/run_colors.h"
#include "storage/queries.h"
#include "workbench/workbench.h"

namespace heddle::gui {

class Session : public QObject {
  Q_OBJECT

 public:
  /// `store`: path of the SQLite file. Nothing is opened before the first question.
  /// `mayWrite` false: work() fails, the store is only read.
  explicit Session(QString store, bool mayWrite = true);
  ~Session() override;

  const QString& storePath() const { return store_; }

  /// Opens the store for writing, follows its runs, and puts the sample run into a new one: what a
  /// window does and a rendered picture does not. Before the first question, which then waits until
  /// the store is open (a reader would make an absent one, and it would not be new any more). A
  /// failure becomes a message.
  void start();

  /// Started with a store that did not exist before.
  bool isNew() const { return isNew_; }
  /// A started session whose store somebody else made: it is read, and nothing in it is changed.
  bool isReadOnly() const { return readOnly_; }
  /// Shows a message that says what trusting such a store means, with a button that does.
  void offerTrust();

  /// One question to the store for `job`, which was made with readingThread(); a newer question
  /// replaces it. `query(storage::Reader&)` runs there and returns a heddle::Result; `done` gets it
  /// on the GUI thread.
  template <typename Query, typename Done>
  void read(Job& job, Query query, Done done) {
    job.start(
        [this, query = std::move(query)]() mutable -> decltype(query(*reader_)) {
          if (auto opened = openReader(); !opened) return fail(opened);
          return caught([&] { return query(*reader_); });
        },
        std::move(done));
  }

  /// The same of what may change the store or takes long (a probe): `task` gets the workbench and
  /// runs on one of a few threads; `job` was made with workingThreads().
  template <typename Task, typename Done>
  void work(Job& job, Task task, Done done) {
    job.start(withWorkbench(std::move(task)), std::move(done));
  }

  /// The same of what a person wants done (stop, export, remove): no newer one replaces it.
  template <typename Task, typename Done>
  void act(Job& job, Task task, Done done) {
    job.add(withWorkbench(std::move(task)), std::move(done));
  }

  /// Changes the store: every change is made, in the order of the calls, even if whoever asked or
  /// the session itself goes first. A failure becomes a message.
  void keep(std::function<Result<>(workbench::Workbench&)> change);

  /// Opens a run's recipe in Compose as a new one, and says what of it was the old run's alone.
  void editAsNew(const storage::RunDetail& run);
  /// The recipe that Compose and Launch work on. A page takes it on when it is shown.
  const CurrentRecipe& currentRecipe() const { return currentRecipe_; }
  void setCurrentRecipe(CurrentRecipe recipe) { currentRecipe_ = std::move(recipe); }
  /// How runs are drawn when several are shown.
  RunSlots& runSlots() { return runSlots_; }

  /// A person's request that the run has not fulfilled yet, such as "stopping"; empty: none. Every
  /// view of the run shows it.
  QString asked(qint64 run) const { return asked_.value(run); }
  void setAsked(qint64 run, const QString& what);

  Worker& readingThread() { return reading_; }
  Worker& workingThreads() { return working_; }

 Q_SIGNALS:
  /// Something in the store has changed: new records, a new run, a state. At most four a second.
  void storeChanged();

  void askedChanged();

  void readOnlyChanged();

  /// Once a second, of a session that was started: ages on screen grow.
  void secondPassed();

  // Asked of the window by pages.
  void pageRequested(const QString& page);
  void runRequested(const QString& page, qint64 run);  // "live", 12
  void compareRequested(const QList<qint64>& runs);
  /// Compare shows the run's prediction against what was measured, next to what is compared there.
  void nodesRequested(qint64 run);
  /// Compare shows predicted plans.
  void plansRequested(const std::vector<heddle::gui::PlannedRecipe>& plans);
  /// "compose" or "launch"; see Page::showRecipe.
  void recipeRequested(const QString& page, const QString& name, const QString& toml,
                       const QString& file);
  /// Compose shows that place of the recipe's text, 1-based.
  void placeRequested(int line, int column);
  void continueRequested(qint64 run, bool fork);  // the dialog that says what will happen
  void reproduceRequested(qint64 run);            // likewise
  void trainingRequested();  // of the sample recipe on this machine, right away
  /// Imports runs into the store; none: a person chooses them.
  void importRequested(const QStringList& paths = {});
  /// Lets a person choose runs of another store, which is not changed: copies of them come into
  /// this one, and are compared with the runs given.
  void otherStoreRequested(const QList<qint64>& with);
  void tourRequested();
  /// A toast. `subject` ("run 12"): the newest message of it replaces the older ones.
  void message(const QString& text, heddle::gui::Tone tone, const QString& subject = {});
  /// Messages about the subject no longer hold.
  void messageSettled(const QString& subject);
  /// A toast with a button, such as "Undo", which does `act`.
  void offered(const QString& text, const QString& button, const std::function<void()>& act);

 private:
  template <typename Task>
  auto withWorkbench(Task task) {
    return [this, task = std::move(task)]() mutable -> decltype(task(*workbench_)) {
      if (auto opened = openWorkbench(); !opened) return fail(opened);
      return caught([&] { return task(*workbench_); });
    };
  }

  void trust();
  void setReadOnly(bool readOnly);
  Result<> openReader();     // on the reading thread
  Result<> openWorkbench();  // on any thread
  using OwnColors = std::map<storage::RunId, std::string>;
  void pollStore();
  void learnColors(const OwnColors& colors);
  void noteChange();

  QString store_;
  bool mayWrite_;
  bool isNew_ = false;
  bool readOnly_ = false;
  CurrentRecipe currentRecipe_;
  RunSlots runSlots_;
  QHash<qint64, QString> asked_;
  QTimer poll_;      // changes by other processes
  QTimer throttle_;  // of storeChanged
  QTimer second_;
  std::shared_future<void> opened_;        // valid once started
  std::optional<storage::Reader> reader_;  // belongs to the reading thread
  std::mutex opening_;
  std::unique_ptr<workbench::Workbench> workbench_;  // once made it stays
  Worker reading_{1};
  Worker working_{4};
  Worker keeping_{1, Worker::AtEnd::finish};
  Job polling_{reading_, this};
  Job starting_{working_, this};
};

}  // namespace heddle::gui
