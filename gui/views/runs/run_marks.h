// A person's marks on runs: tags, stars, names, notes, colours, and that they are archived. Of
// many at once where many are chosen.
#pragma once

#include <QAction>
#include <QMenu>
#include <functional>

#include "gui/session.h"
#include "gui/theme/run_colors.h"
#include "gui/views/runs/run_columns.h"
#include "gui/views/runs/run_copy.h"
#include "gui/views/runs/runs_table.h"
#include "gui/views/runs/tag_editor.h"

namespace heddle::gui {

class RunMarks : public QObject {
  Q_OBJECT

 public:
  /// `chosen`: the runs that the actions are about.
  RunMarks(Session& session, RunsModel& model, RunLines& lines, RunsTable* table,
           const RunColumns& columns, std::function<QList<qint64>()> chosen);

  QList<QAction*> actions() const {
    return {star_, tags_, rename_, archive_, copy_, markdown_, save_};
  }
  /// The actions in the words for those runs; `archived`: they come from the archive.
  void describe(const QList<qint64>& runs, bool archived);
  /// The actions, and a menu of colours.
  void addTo(QMenu& menu);

 Q_SIGNALS:
  /// The store has taken it.
  void changed();

 private:
  using Change = std::function<Result<>(storage::Writer& writer, qint64 run)>;
  QAction* make(const char* id, const QString& text, const QString& iconName,
                const QKeySequence& key = {});
  void write(const QList<qint64>& runs, const Change& change);
  void star(const QList<qint64>& runs);
  void editTags(const QPoint& globalPosition);
  void edit(qint64 run, const QString& key, const QString& text);
  void archive();
  void setColor(const QColor& color);  // invalid: by its number
  void setMarker(int marker);          // -1: by its number
  void setStroke(const std::function<void(OwnStroke& stroke)>& change);
  QString text(RunText form) const;
  void copy(RunText form);
  void save();

  Session& session_;
  RunsModel& model_;
  RunLines& lines_;
  RunsTable* table_;
  const RunColumns& columns_;
  std::function<QList<qint64>()> chosen_;
  TagEditor* editor_;
  QAction* star_;
  QAction* tags_;
  QAction* rename_;
  QAction* archive_;
  QAction* copy_;
  QAction* markdown_;
  QAction* save_;
  bool archived_ = false;
  Job writing_;
};

}  // namespace heddle::gui
