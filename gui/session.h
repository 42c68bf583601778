// What all pages share: the store, background reading, the signal that something changed, and the
// ways from page to page. GUI thread only.
#pragma once

#include <QObject>
#include <QString>
#include <functional>
#include <memory>

#include "gui/models/worker.h"
#include "gui/theme/icons.h"
#include "storage/queries.h"

namespace heddle::gui {

class Session : public QObject {
  Q_OBJECT

 public:
  /// `store`: path of the SQLite file. Nothing is opened before the first question.
  explicit Session(QString store);
  ~Session() override;

  const QString& storePath() const { return store_; }

  /// One question to the store for `job` (a newer question replaces it). `query` runs on the
  /// reading thread with its connection; `done` on the GUI thread. Queries return a heddle::Result.
  template <typename Query, typename Done>
  void read(Job& job, Query query, Done done) {
    job.start(
        [this, query = std::move(query)]() mutable -> decltype(query(*reader_)) {
          if (auto opened = openReader(); !opened) return fail(opened);
          return query(*reader_);
        },
        std::move(done));
  }

  /// The thread that reads the store. Jobs of pages are made with it.
  Worker& readingThread() { return reading_; }
  /// A thread for what takes long: connections, probes, writing.
  Worker& workingThread() { return working_; }

 Q_SIGNALS:
  /// Something in the store has changed: new records, a new run, a state. At most four a second.
  void storeChanged();

  // Asked of the window by pages.
  void pageRequested(const QString& page);
  void runRequested(const QString& page, qint64 run);  // "live", 12
  void compareRequested(const QList<qint64>& runs);
  void recipeRequested(const QString& file);  // opens it in Compose
  void recipeTextRequested(const QString& name,
                           const QString& toml);                   // a run's recipe, as a new one
  void launchRequested(const QString& name, const QString& toml);  // hands a recipe to Launch
  void message(const QString& text, heddle::gui::Tone tone);       // a toast

 private:
  Result<> openReader();  // on the reading thread

  QString store_;
  std::optional<storage::Reader> reader_;  // belongs to the reading thread
  Worker reading_;
  Worker working_;
};

}  // namespace heddle::gui
