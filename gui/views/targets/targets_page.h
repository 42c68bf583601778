// Targets: where runs can be sent; adding hosts, their keys, what a probe finds.
#pragma once

#include <QHash>
#include <QStackedWidget>
#include <map>

#include "gui/page.h"
#include "gui/session.h"
#include "gui/views/launch/recent_launches.h"
#include "gui/views/targets/check_list.h"
#include "gui/views/targets/cluster_card.h"
#include "gui/views/targets/host_dialog.h"
#include "gui/views/targets/host_list.h"
#include "gui/views/targets/target_facts.h"
#include "gui/views/targets/target_probe.h"
#include "gui/widgets/search_field.h"
#include "remote/ssh_config.h"

namespace heddle::gui {

class TargetsPage : public Page {
  Q_OBJECT

 public:
  explicit TargetsPage(Session& session, QWidget* parent = nullptr);

  QString subtitle() const override;
  QList<QAction*> pageActions() override { return {probe_, edit_, add_}; }
  void activated() override;
  bool isReady() const override {
    return loaded_ && !reading_.running() && !offering_.running() && !local_.running();
  }

 protected:
  void resizeEvent(QResizeEvent* event) override;

 private:
  QWidget* makeDetail();
  void setOffered(remote::SshConfig config);
  void showTargets();
  /// Hides the hosts that the search does not find.
  void search();
  void showCurrent();
  void showCounts();  // says how long ago, too
  void showRuns(const TargetEntry& entry);
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

  /// The typed form, until the host is trusted.
  struct Asked {
    HostForm form;
    std::optional<remote::Target> edited;  // none: a new one
  };

  /// A store's targets, why the connection to their runs is lost, and its runs.
  struct Targets {
    std::vector<workbench::SavedTarget> saved;
    LostTargets lost;
    std::vector<storage::RunSummary> runs;  // newest first
    Contacts contacts;
  };
  static Result<Targets> readTargets(storage::Reader& reader);

  Targets targets_;
  remote::SshConfig config_;
  remote::ConfiguredHosts hosts_;  // belongs to the thread below
  Worker asking_{1};               // files of ~/.ssh/config may be long, or far away
  Job offering_{asking_, this};
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
  SearchField* search_;
  HostList* list_;
  QLabel* notFound_;
  QLabel* warnings_;  // hosts of ~/.ssh/config that are not offered, and why
  QLabel* name_;
  ElidedLabel* address_;
  QLabel* counts_;
  QLabel* error_;
  QPushButton* probeButton_;
  ClusterCard* cluster_;
  CheckList* checks_;
  QLabel* runsTitle_;
  QFrame* runsCard_;
  RecentLaunches* runs_;
  TargetFacts* facts_;
  QAction* add_;
  QAction* probe_;
  QAction* edit_;
};

}  // namespace heddle::gui
