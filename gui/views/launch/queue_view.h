// The runs that wait, in their order: moved by dragging, by buttons or with Alt and the arrows;
// taken out with Delete.
#pragma once

#include <QListWidget>
#include <QToolButton>
#include <vector>

#include "gui/widgets/key_table.h"
#include "storage/queue.h"

namespace heddle::gui {

class QueueView : public QListWidget {
  Q_OBJECT

 public:
  explicit QueueView(QWidget* parent = nullptr);

  /// `going`: the runs that go on, newest first. Keeps the current run.
  void setQueue(const std::vector<storage::QueuedRun>& queue,
                const std::vector<storage::RunSummary>& going);
  static KeyTable keys();
  /// For the card's head.
  QList<QToolButton*> buttons() const { return {up_, down_, out_}; }

 Q_SIGNALS:
  /// A person has changed the order: all of it.
  void reordered(const std::vector<heddle::storage::RunId>& runs);
  void takenOut(qint64 run);
  void opened(qint64 run);

 protected:
  void keyPressEvent(QKeyEvent* event) override;
  void dropEvent(QDropEvent* event) override;

 private:
  void move(int by);
  void takeOut();
  void showButtons();
  std::vector<storage::RunId> order() const;

  QToolButton *up_, *down_, *out_;
};

}  // namespace heddle::gui
