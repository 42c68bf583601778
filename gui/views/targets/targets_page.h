// Targets: where runs can be sent; adding hosts, their keys, what a probe finds.
#pragma once

#include <QHash>
#include <QStackedWidget>
#include <map>

#include "gui/page.h"
#include "gui/session.h"
#include "gui/views/targets/check_list.h"
#include "gui/views/targets/host_dialog.h"
#include "gui/views/targets/host_list.h"
#include "gui/views/targets/target_facts.h"
#include "gui/views/targets/target_probe.h"

namespace heddle::gui {

class TargetsPage : public Page {
  Q_OBJECT

 public:
  explicit TargetsPage(Session& session, QWidget* parent = nullptr);

  QString name() const override { return QStringLiteral("targets"); }
  QString title() const override { return tr("Targets"); }
  QString subtitle() const override;
  QList<QAction*> pageActions() override { return {probe_, edit_, add_}; }
  void activated() override;
  bool isReady() const override { return loaded_ && !reading_.running() && !local_.running(); }

 protected:
  void resizeEvent(QResizeEvent* event) override;

 private:
  QWidget* makeDetail();
  /// `lost`: targets to whose runs the connection is lost, and why.
  void setTargets(const std::vector<workbench::SavedTarget>& saved,
                  const std::map<std::string, std::string>& lost);
  void showCurrent();
  void showCounts();  // says how long ago, too
  const TargetEntry* current() const;
  void addHost();
  void editCurrent();
  void askForHost(const HostForm& form, const std::optional<remote::Target>& edited);
  void openMenu(const QPoint& at);
  void probeCurrent();
  void probeLocal();
  void connectTo(const remote::Target& target);
  void connected(const ProbeOutcome& outcome);
  void distrusted(const ProbeOutcome& outcome);
  void removeCurrent();

  /// What was typed, until the host is trusted.
  struct Asked {
    HostForm form;
    std::optional<remote::Target> edited;  // none: a new one
  };

  Job reading_;
  Job local_;
  Job connecting_;
  Job removing_;
  bool loaded_ = false;
  std::optional<Asked> asked_;
  QString wanted_;                    // to be chosen once it is in the list
  QHash<QString, TargetEntry> seen_;  // reports and errors of this session, by name
  TargetListModel model_;
  QWidget* left_;
  HostList* list_;
  QLabel* name_;
  ElidedLabel* address_;
  QLabel* counts_;
  QLabel* error_;
  QPushButton* probeButton_;
  CheckList* checks_;
  TargetFacts* facts_;
  QAction* add_;
  QAction* probe_;
  QAction* edit_;
};

}  // namespace heddle::gui
