#include "gui/views/targets/targets_page.h"

#include <QApplication>
#include <QDateTime>
#include <QMenu>
#include <QSet>
#include <algorithm>

#include "gui/format.h"
#include "gui/models/state_look.h"
#include "gui/theme/theme.h"
#include "gui/views/targets/key_dialog.h"
#include "gui/widgets/dialog.h"
#include "gui/widgets/layouts.h"
#include "gui/widgets/list_keys.h"
#include "gui/widgets/why_not.h"

namespace heddle::gui {
namespace {

constexpr int kWide = 1300;  // from here on the columns have the room of the design
constexpr int kRuns = 160;   // the least height of the last runs
constexpr size_t kWarnings = 3, kLastRuns = 20;

/// As many as there is room for.
QString firstOf(const std::vector<std::string>& warnings) {
  QStringList lines;
  for (const std::string& warning : warnings) {
    if (static_cast<size_t>(lines.size()) == kWarnings) {
      lines << QObject::tr("and %1 more").arg(warnings.size() - kWarnings);
      break;
    }
    lines << QString::fromStdString(warning);
  }
  return lines.join(QLatin1Char('\n'));
}

/// "9 pass   1 warn   probed 12 min ago".
QString words(const TargetEntry& entry) {
  int counts[4] = {};
  for (const probe::Check& check : entry.report->checks) ++counts[static_cast<int>(check.status)];
  QStringList parts;
  const auto add = [&](Tone tone, const QString& text) {
    parts << QStringLiteral("<span style='color:%1'>%2</span>")
                 .arg(colorOf(entry.isOutOfReach() ? Tone::muted : tone).name(), text);
  };
  for (int status = 0; status < 4; ++status) {
    if (counts[status] == 0) continue;
    const auto kind = static_cast<probe::Status>(status);
    add(lookOf(kind).tone, QStringLiteral("%1 %2")
                               .arg(counts[status])
                               .arg(QString::fromStdString(std::string(probe::word(kind)))));
  }
  if (entry.report->time > 0)
    add(Tone::muted, TargetsPage::tr("probed %1")
                         .arg(format::when(QDateTime::fromSecsSinceEpoch(
                             static_cast<qint64>(entry.report->time)))));
  return parts.join(QStringLiteral("&nbsp;&nbsp;&nbsp;"));
}

}  // namespace

TargetsPage::TargetsPage(Session& session, QWidget* parent)
    : Page(session, parent),
      reading_(session.readingThread(), this),
      local_(session.workingThreads(), this),
      connecting_(session.workingThreads(), this),
      removing_(session.workingThreads(), this) {
  add_ = new QAction(icon(QStringLiteral("plus")), tr("Add host"), this);
  add_->setObjectName(QStringLiteral("addHost"));
  add_->setProperty("topBar", true);
  connect(add_, &QAction::triggered, this, &TargetsPage::addHost);
  probe_ = new QAction(icon(QStringLiteral("refresh")), tr("Probe again"), this);
  connect(probe_, &QAction::triggered, this, &TargetsPage::probeCurrent);
  edit_ = new QAction(icon(QStringLiteral("compose")), tr("Edit target"), this);
  connect(edit_, &QAction::triggered, this, &TargetsPage::editCurrent);
  setWhyNot(probe_, tr("the host is busy"));
  setWhyNot(edit_, tr("only hosts that were added, while they are not busy, can be edited"));

  list_ = new HostList(model_);
  list_->setContextMenuPolicy(Qt::CustomContextMenu);
  connect(list_, &QWidget::customContextMenuRequested, this, &TargetsPage::openMenu);
  connect(list_->selectionModel(), &QItemSelectionModel::currentChanged, this,
          &TargetsPage::showCurrent);
  auto* left = new QFrame;
  left->setProperty("role", "panel");
  auto* leftColumn = new QVBoxLayout(left);
  leftColumn->setContentsMargins(0, 12, 0, 0);
  auto* title = heading(tr("Hosts"));
  title->setContentsMargins(16, 0, 16, 0);
  leftColumn->addWidget(title);
  search_ = new SearchField(tr("Find a host"));
  connect(search_, &QLineEdit::textChanged, this, &TargetsPage::search);
  new ListKeys(search_, list_, [this](const QModelIndex&) { list_->setFocus(); });
  auto* searchRow = new QHBoxLayout;
  searchRow->setContentsMargins(16, 8, 16, 0);
  searchRow->addWidget(search_);
  leftColumn->addLayout(searchRow);
  notFound_ = muted({});
  notFound_->setContentsMargins(16, 8, 16, 0);
  notFound_->hide();
  leftColumn->addWidget(notFound_);
  leftColumn->addWidget(list_, 1);
  warnings_ = muted({});
  warnings_->setObjectName(QStringLiteral("warnings"));
  warnings_->setContentsMargins(16, 8, 16, 12);
  warnings_->setWordWrap(true);
  warnings_->setSizePolicy(QSizePolicy::Ignored, QSizePolicy::Minimum);  // paths do not wrap
  warnings_->setTextInteractionFlags(Qt::TextSelectableByMouse);
  warnings_->hide();
  leftColumn->addWidget(warnings_);
  left_ = left;
  facts_ = new TargetFacts;
  connect(facts_, &TargetFacts::editRequested, this, &TargetsPage::editCurrent);
  connect(facts_, &TargetFacts::removeRequested, this, &TargetsPage::removeCurrent);
  auto* layout = new QHBoxLayout(this);
  layout->setContentsMargins(0, 0, 0, 0);
  layout->setSpacing(0);
  layout->addWidget(left_);
  layout->addWidget(line(Qt::Vertical));
  layout->addWidget(makeDetail(), 1);
  layout->addWidget(facts_);
  connect(&Theme::instance(), &Theme::changed, this, &TargetsPage::showCurrent);
  connect(&session, &Session::secondPassed, this, &TargetsPage::showCounts);
  showCurrent();
}

QWidget* TargetsPage::makeDetail() {
  auto* content = new QWidget;
  name_ = heading({});
  address_ = new ElidedLabel({}, "mono-muted");
  probeButton_ = quietButton(tr("Probe again"), QStringLiteral("refresh"));
  probeButton_->setObjectName(QStringLiteral("probe"));
  connect(probeButton_, &QPushButton::clicked, this, &TargetsPage::probeCurrent);
  auto* head = new QHBoxLayout;
  head->setSpacing(12);
  head->addWidget(name_);
  head->addWidget(address_, 1);
  head->addWidget(probeButton_);
  counts_ = new QLabel;
  counts_->setObjectName(QStringLiteral("counts"));
  counts_->setTextFormat(Qt::RichText);
  error_ = label({}, "error");
  error_->setWordWrap(true);
  error_->setTextInteractionFlags(Qt::TextSelectableByMouse);
  cluster_ = new ClusterCard;
  checks_ = new CheckList;
  runsTitle_ = heading(tr("Last runs there"));
  runs_ = new RecentLaunches;
  runs_->showOneTarget();
  runs_->setObjectName(QStringLiteral("lastRuns"));
  runs_->setSizeAdjustPolicy(QAbstractScrollArea::AdjustToContents);
  runs_->setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Maximum);
  connect(runs_, &RecentLaunches::opened, this,
          [this](qint64 run) { Q_EMIT session().runRequested(QStringLiteral("live"), run); });
  auto* column = new QVBoxLayout(content);
  column->setContentsMargins(metric::edge, 12, metric::edge, metric::group);
  column->setSpacing(12);
  column->addLayout(head);
  column->addWidget(counts_);
  column->addWidget(error_);
  column->addWidget(cluster_);
  column->addWidget(checks_);
  column->addWidget(runsTitle_);
  runsCard_ = new QFrame;
  runsCard_->setProperty("role", "card");
  runsCard_->setSizePolicy(QSizePolicy::Preferred, QSizePolicy::Maximum);
  columnOf(runsCard_, {13, 1, 13, 4})->addWidget(runs_);
  column->addWidget(runsCard_);
  column->addStretch(1);
  QScrollArea* area = scrolled(content);
  area->setAccessibleName(tr("Facts of the target"));
  return area;
}

QString TargetsPage::subtitle() const {
  const int offered = model_.rowCount() - model_.targets();
  QString text = format::plural(model_.targets(), counted::kTarget);
  if (offered > 0) text += tr(", %1 offered by ~/.ssh/config").arg(offered);
  return text;
}

Result<TargetsPage::Targets> TargetsPage::readTargets(storage::Reader& reader) {
  auto saved = workbench::targets(reader);
  if (!saved) return fail(saved);
  auto lost = lostTargets(reader);
  if (!lost) return fail(lost);
  auto runs = reader.runs();
  if (!runs) return fail(runs);
  auto contacts = readContacts(reader);
  if (!contacts) return fail(contacts);
  return Targets{std::move(*saved), std::move(*lost), std::move(*runs), std::move(*contacts)};
}

void TargetsPage::activated() {
  if (!reading_.running())
    session().read(reading_, readTargets, [this](Result<Targets> targets) {
      loaded_ = true;
      if (!targets)
        return Q_EMIT session().message(QString::fromStdString(targets.error().message), Tone::bad);
      targets_ = std::move(*targets);
      showTargets();
    });
  if (!offering_.running())
    offering_.start([this] { return hosts_.now(); },
                    [this](remote::SshConfig config) { setOffered(std::move(config)); });
  if (!seen_.contains(QString::fromStdString(std::string(remote::kThisMachine)))) probeLocal();
}

void TargetsPage::setOffered(remote::SshConfig config) {
  if (config == config_) return;
  config_ = std::move(config);
  std::ranges::sort(config_.hosts, {}, &remote::Host::name);
  warnings_->setText(tr("Not offered, of ~/.ssh/config:\n%1").arg(firstOf(config_.warnings)));
  QStringList all;
  for (const std::string& warning : config_.warnings) all << QString::fromStdString(warning);
  warnings_->setToolTip(all.join(QLatin1Char('\n')));
  warnings_->setVisible(!all.isEmpty());
  if (!targets_.saved.empty()) showTargets();
}

void TargetsPage::showTargets() {
  const TargetEntry* chosen = current();
  const QString before = !wanted_.isEmpty() ? wanted_ : chosen ? chosen->name() : QString();
  std::vector<TargetEntry> entries;
  QSet<QString> names;
  for (const workbench::SavedTarget& target : targets_.saved) {
    const QString name = QString::fromStdString(target.target.name);
    TargetEntry entry = seen_.value(name);
    entry.target = target.target;
    entry.offered = false;
    const auto why = targets_.lost.find(target.target.name);
    entry.lost = why == targets_.lost.end() ? QString() : QString::fromStdString(why->second);
    // This machine has just been probed; of others the store knows the newest.
    if (!entry.isThisMachine() || !entry.report) entry.report = target.probe;
    names << name;
    seen_.insert(name, entry);
    entries.push_back(std::move(entry));
  }
  for (const remote::Host& host : config_.hosts) {
    const QString name = QString::fromStdString(host.name);
    if (names.contains(name)) continue;
    TargetEntry entry = seen_.value(name);
    entry.offered = true;
    entry.target.name = host.name;
    entry.target.hosts = {host};
    seen_.insert(name, entry);
    entries.push_back(std::move(entry));
  }
  model_.setEntries(std::move(entries));
  list_->setCurrentIndex(model_.index(std::max(0, model_.indexOf(before))));
  if (model_.indexOf(wanted_) >= 0) wanted_.clear();
  search();
  Q_EMIT headerChanged();
}

void TargetsPage::search() {
  const QString typed = search_->text().trimmed();
  int first = -1;
  for (int row = 0; row < model_.rowCount(); ++row) {
    const TargetEntry& entry = model_.entry(row);
    const bool found = entry.name().contains(typed, Qt::CaseInsensitive) ||
                       addressOf(entry).contains(typed, Qt::CaseInsensitive);
    list_->setRowHidden(row, !found);
    if (found && first < 0) first = row;
  }
  notFound_->setText(tr("No host has “%1” in its name or address")
                         .arg(notFound_->fontMetrics().elidedText(typed, Qt::ElideRight, 80)));
  notFound_->setVisible(first < 0);
  const QModelIndex now = list_->currentIndex();
  if (first >= 0 && (!now.isValid() || list_->isRowHidden(now.row())))
    list_->setCurrentIndex(model_.index(first));
}

const TargetEntry* TargetsPage::current() const {
  const QModelIndex index = list_->currentIndex();
  return index.isValid() ? &model_.entry(index.row()) : nullptr;
}

void TargetsPage::showCurrent() {
  const TargetEntry* entry = current();
  probeButton_->setVisible(entry);
  facts_->setVisible(entry);
  if (!entry) {  // the store could not be read, or not yet
    runsTitle_->hide();
    runsCard_->hide();
    return;
  }
  name_->setText(entry->name());
  address_->setFullText(addressOf(*entry));
  probeButton_->setText(entry->offered  ? tr("Add this host")
                        : entry->report ? tr("Probe again")
                                        : tr("Probe"));
  // A button that cannot be pressed gives the focus to the next one, and that removes the target.
  if (entry->busy && QApplication::focusWidget() && isAncestorOf(QApplication::focusWidget()))
    list_->setFocus();
  probeButton_->setEnabled(!entry->busy);
  probe_->setEnabled(!entry->busy);
  edit_->setEnabled(!entry->busy && !entry->offered && !entry->isThisMachine());
  const auto checks = entry->report ? entry->report->checks : std::vector<probe::Check>{};
  showCounts();
  error_->setText(!entry->error.isEmpty() || entry->lost.isEmpty()
                      ? entry->error
                      : tr("Lost the connection to a run there: %1").arg(entry->lost));
  error_->setVisible(entry->isOutOfReach());
  cluster_->setCluster(entry->isOutOfReach() ? std::nullopt : entry->cluster);
  checks_->setChecks(checks, entry->isOutOfReach());
  showRuns(*entry);
  facts_->display(*entry);
}

void TargetsPage::showRuns(const TargetEntry& entry) {
  std::vector<storage::RunSummary> there;
  for (const storage::RunSummary& run : targets_.runs)
    if (run.target == entry.target.name && there.size() < kLastRuns) there.push_back(run);
  runsTitle_->setText(entry.isThisMachine() ? tr("Last runs here") : tr("Last runs there"));
  runsTitle_->setVisible(!there.empty());
  runsCard_->setVisible(!there.empty());
  runs_->setRuns(there, targets_.contacts);
  runs_->setMinimumHeight(std::min(kRuns, runs_->sizeHint().height()));
}

void TargetsPage::showCounts() {
  const TargetEntry* entry = current();
  if (!entry) return;
  const bool probed = entry->report && !entry->report->checks.empty();
  counts_->setText(entry->busy ? stateOf(*entry).text : probed ? words(*entry) : QString());
  counts_->setVisible(entry->busy || probed);
}

void TargetsPage::addHost() { askForHost({}, {}); }

void TargetsPage::editCurrent() {
  const TargetEntry* entry = current();
  if (!entry || entry->busy || entry->offered || entry->isThisMachine()) return;
  askForHost(formOf(entry->target), entry->target);
}

void TargetsPage::askForHost(const HostForm& form, const std::optional<remote::Target>& edited) {
  if (connecting_.running())
    return Q_EMIT session().message(tr("Another host is being connected to"), Tone::warn);
  QStringList taken;
  for (int row = 0; row < model_.rowCount(); ++row)
    if (!model_.entry(row).offered) taken << model_.entry(row).name();
  HostDialog dialog(taken, this);
  const std::optional<remote::Target> before = edited;
  if (before) dialog.edit(*before);
  dialog.fill(form);
  if (dialog.exec() != QDialog::Accepted) return;
  asked_ = Asked{dialog.form(), before};
  connectTo(dialog.target());
}

void TargetsPage::openMenu(const QPoint& at) {
  const QModelIndex index = list_->indexAt(at);
  if (!index.isValid()) return;
  list_->setCurrentIndex(index);
  const TargetEntry& entry = model_.entry(index.row());
  QMenu menu(this);
  menu.addAction(probeButton_->text(), this, &TargetsPage::probeCurrent)->setEnabled(!entry.busy);
  if (!entry.offered && !entry.isThisMachine()) {
    menu.addAction(edit_);
    menu.addAction(tr("Remove target"), this, &TargetsPage::removeCurrent);
  }
  menu.exec(list_->viewport()->mapToGlobal(at));
}

void TargetsPage::probeCurrent() {
  const TargetEntry* entry = current();
  if (!entry || entry->busy) return;
  if (entry->offered) {
    return askForHost(formOf(entry->target.hosts.front()), {});
  }
  if (entry->isThisMachine()) return probeLocal();
  asked_.reset();
  connectTo(entry->target);
}

void TargetsPage::probeLocal() {
  if (local_.running()) return;
  local_.start(probeThisMachine, [this](const ProbeOutcome& outcome) { connected(outcome); });
}

void TargetsPage::connectTo(const remote::Target& target) {
  if (connecting_.running())
    return Q_EMIT session().message(tr("Another host is being connected to"), Tone::warn);
  const std::string before = asked_ && asked_->edited ? asked_->edited->name : target.name;
  TargetEntry entry = seen_.value(QString::fromStdString(before));
  if (entry.target.hosts != target.hosts) entry.report.reset();  // of another host of that name
  // A target that is edited keeps its place in the list until it is saved.
  if (before == target.name) entry.target = target;
  entry.busy = true;
  entry.error.clear();
  model_.update(entry);
  showCurrent();
  session().work(
      connecting_,
      [known = workbench::SavedTarget{target, entry.report},
       before](workbench::Workbench& workbench) -> Result<ProbeOutcome> {
        return probeTarget(workbench, known, before == known.target.name ? "" : before);
      },
      [this, target](const Result<ProbeOutcome>& outcome) {
        if (outcome) return connected(*outcome);
        ProbeOutcome failed;
        failed.target = target;
        failed.error = outcome.error().message;
        connected(failed);
      });
}

void TargetsPage::connected(const ProbeOutcome& outcome) {
  if (outcome.refused && outcome.refused->is_about_host_key()) return distrusted(outcome);
  const std::string& name = outcome.target.name;
  const std::string before = asked_ && asked_->edited ? asked_->edited->name : name;
  TargetEntry entry = seen_.value(QString::fromStdString(before));
  entry.target = outcome.target;
  entry.busy = false;
  entry.error = QString::fromStdString(outcome.refused ? outcome.refused->message : outcome.error);
  if (!outcome.reports.empty()) entry.report = outcome.reports.front();
  entry.cluster = outcome.cluster;
  seen_.insert(entry.name(), entry);
  model_.update(entry);
  if (before != name) seen_.remove(QString::fromStdString(before));
  if (asked_) {
    wanted_ = entry.name();
    list_->setFocus();
  }
  asked_.reset();
  showCurrent();
  if (!entry.error.isEmpty()) Q_EMIT session().message(entry.error, Tone::bad);
  activated();
}

/// Nothing of it is kept, unless the key is; whoever does not save it may type on.
void TargetsPage::distrusted(const ProbeOutcome& outcome) {
  const std::optional<Asked> asked = asked_;
  const bool edited = asked && asked->edited;
  TargetEntry entry =
      seen_.value(QString::fromStdString(edited ? asked->edited->name : outcome.target.name));
  // A host that was never trusted has no entry yet, and gets none from this attempt.
  if (model_.indexOf(entry.name()) >= 0) {
    entry.busy = false;
    if (!edited) entry.error = QString::fromStdString(outcome.refused->message);
    seen_.insert(entry.name(), entry);
    model_.update(entry);
    showCurrent();
  }
  if (outcome.refused->kind != remote::ConnectError::Kind::host_key_unknown) {
    RefusedKeyDialog(*outcome.refused, this).exec();
  } else if (UnknownKeyDialog(*outcome.refused, this).exec() == QDialog::Accepted) {
    remote::Target trusted = outcome.target;
    trusted.accepted_keys.push_back(outcome.refused->key);
    return connectTo(trusted);
  }
  asked_.reset();
  if (asked) askForHost(asked->form, asked->edited);
}

void TargetsPage::removeCurrent() {
  const TargetEntry* entry = current();
  if (!entry || entry->offered || entry->isThisMachine()) return;
  const QString name = entry->name();
  if (!confirm(this, tr("Remove %1?").arg(name),
               tr("Its address and saved keys leave the store. Runs that were launched there stay, "
                  "and so do the files on the host."),
               tr("Remove %1").arg(name)))
    return;
  session().act(
      removing_,
      [name = name.toStdString()](workbench::Workbench& workbench) {
        return workbench.writer().remove_target(name).get();
      },
      [this, name](const Result<>& removed) {
        if (!removed)
          return Q_EMIT session().message(QString::fromStdString(removed.error().message),
                                          Tone::bad);
        seen_.remove(name);
        activated();
      });
}

void TargetsPage::resizeEvent(QResizeEvent* event) {
  Page::resizeEvent(event);
  const bool wide = width() >= kWide;
  left_->setFixedWidth(wide ? 400 : 300);
  facts_->setFixedWidth(wide ? 400 : 280);
}

}  // namespace heddle::gui
