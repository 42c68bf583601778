// Asks how to go on from a run's checkpoint, and says what will happen before it does: resume or
// fork, from which step, to which, with what changed. Starts it, and closes when the ranks run.
#pragma once

#include <QComboBox>
#include <QGridLayout>
#include <QLineEdit>
#include <QPlainTextEdit>
#include <QSpinBox>
#include <QTimer>
#include <atomic>
#include <memory>
#include <optional>

#include "gui/session.h"
#include "gui/widgets/dialog.h"
#include "workbench/continuation.h"

namespace heddle::gui {

class ContinueDialog : public Dialog {
  Q_OBJECT

 public:
  using Kind = storage::Lineage::Kind;

  ContinueDialog(Session& session, storage::RunId parent, Kind kind, QWidget* parentWidget);
  ~ContinueDialog() override;

  /// Nothing asked for is still being looked at.
  bool isReady() const {
    return !looking_.running() && !planning_.running() && !typing_.isActive();
  }
  /// The plan on screen, or the reason against it.
  QString text() const;

 private:
  /// The run, what it has saved, and what a first look says.
  struct Look {
    storage::RunDetail parent;
    std::vector<workbench::SavedCheckpoint> saved;
    int64_t steps = 0;                               // as its recipe says
    std::vector<std::vector<std::string>> withouts;  // choices_without
  };
  /// The run to launch; on other hosts than before, also how it fits there.
  struct Plan {
    workbench::Continuation continuation;
    QString fit;
  };
  void build();
  void look();
  void offer(Look look);
  void plan();
  void display(const Result<Plan>& plan);
  void start();
  void editFirst();
  /// The inputs of a plan, as the fields have them.
  struct Asked {
    std::string checkpoint;
    std::vector<std::string> sets;
    std::vector<std::string> without;
    bool operator==(const Asked&) const = default;
  };
  Asked asked() const;
  std::vector<std::string> sets() const;
  QString checkpoint() const;
  /// The hosts that are to be left out.
  std::vector<std::string> without() const;

  Session& session_;
  const storage::RunId id_;
  const Kind kind_;
  std::optional<Look> look_;
  Asked planned_;  // what was looked at last
  std::optional<workbench::Continuation> plan_;
  std::shared_ptr<std::atomic<bool>> cancelled_ = std::make_shared<std::atomic<bool>>(false);
  QComboBox* hosts_ = nullptr;  // a lost run's choices
  QLabel* hostsLabel_ = nullptr;
  QComboBox* from_ = nullptr;
  QSpinBox* steps_ = nullptr;
  QPlainTextEdit* changes_ = nullptr;
  QLineEdit* name_ = nullptr;
  QGridLayout* facts_ = nullptr;
  QLabel* fault_ = nullptr;
  QPushButton* edit_ = nullptr;
  QPushButton* start_ = nullptr;
  QTimer typing_;
  Job looking_;
  Job planning_;
  Job launching_;
};

}  // namespace heddle::gui
