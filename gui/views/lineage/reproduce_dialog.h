// Launches a run again exactly as it was. Before it does, says what is as it was and what is not.
#pragma once

#include <QVBoxLayout>
#include <atomic>
#include <memory>
#include <optional>

#include "gui/session.h"
#include "gui/widgets/dialog.h"
#include "workbench/reproduction.h"

namespace heddle::gui {

class ReproduceDialog : public Dialog {
  Q_OBJECT

 public:
  ReproduceDialog(Session& session, storage::RunId run, QWidget* parent);
  ~ReproduceDialog() override;

 private:
  void look();
  void display(const workbench::Reproduction& plan);
  void complain(const std::string& why);
  void add(const QString& iconName, Tone tone, const std::string& text);
  void start();

  Session& session_;
  const storage::RunId id_;
  std::optional<workbench::Reproduction> plan_;
  std::shared_ptr<std::atomic<bool>> cancelled_ = std::make_shared<std::atomic<bool>>(false);
  QVBoxLayout* lines_;
  QLabel* words_;
  QPushButton* start_;
  Job looking_;
  Job launching_;
};

}  // namespace heddle::gui
