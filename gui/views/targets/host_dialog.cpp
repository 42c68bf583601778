#include "gui/views/targets/host_dialog.h"

#include <QGridLayout>
#include <QRegularExpression>
#include <algorithm>

#include "remote/prelude.h"
#include "remote/ssh_config.h"

namespace heddle::gui {
namespace {

constexpr int kTold = 72;  // pixels, for the explanation

/// Paths in one field, by commas.
std::vector<std::string> filesOf(const QString& field) {
  std::vector<std::string> files;
  for (const QString& file : field.split(QLatin1Char(','), Qt::SkipEmptyParts))
    files.push_back(file.trimmed().toStdString());
  return files;
}

QString fieldOf(const std::vector<std::string>& files) {
  QStringList texts;
  for (const std::string& file : files) texts << QString::fromStdString(file);
  return texts.join(QStringLiteral(", "));
}

Result<remote::Host> hostOf(const std::string& typed, const HostForm& form, QStringList& notes) {
  if (typed == remote::kThisMachine) return remote::host_here();
  auto resolved = remote::resolve_host(typed);
  if (!resolved) return fail(resolved);
  remote::Host& host = resolved->host;
  if (const QString jump = form.jump.trimmed(); !jump.isEmpty())
    remote::go_through(host, jump.toStdString());
  if (!form.key.trimmed().isEmpty()) host.identity_files = filesOf(form.key);
  for (const std::string& note : resolved->notes) notes << QString::fromStdString(note);
  return std::move(host);
}

/// The target that the fields describe, checked; the error is for the person who types. `notes`:
/// the parts of the SSH config that are not followed.
Result<remote::Target> targetOf(const HostForm& form, QStringList& notes) {
  const auto text = [](const QString& field) { return field.trimmed().toStdString(); };
  remote::Target target;
  target.name = text(form.name);
  target.job = form.job;
  if (const std::string root = text(form.root); !root.empty()) target.root = root;
  target.data_root = text(form.dataRoot);
  target.prelude = text(form.prelude);
  target.container = text(form.container);
  static const QRegularExpression separators(QStringLiteral("[,\\s]+"));
  for (const auto& [typed, hosts] :
       {std::pair(&form.hosts, &target.hosts), std::pair(&form.spares, &target.spares)})
    for (const QString& each : typed->split(separators, Qt::SkipEmptyParts)) {
      auto host = hostOf(each.toStdString(), form, notes);
      if (!host) return fail(host);
      hosts->push_back(std::move(*host));
    }
  if (form.job && target.hosts.empty()) target.hosts = {remote::host_here()};
  if (const auto checked = remote::check(target); !checked) return fail(checked);
  if (const auto prelude = remote::read_prelude(target); !prelude) return fail(prelude);
  return target;
}

/// A host keeps its keys and everything that the fields do not show. Where only its user or port
/// is another, it is still the machine whose key the SSH config says where to find.
void takeOver(const std::vector<remote::Host>& before, std::vector<remote::Host>& now) {
  for (remote::Host& host : now) {
    const auto same = std::ranges::find_if(before, [&](const remote::Host& old) {
      return old.address == host.address && old.port == host.port && old.user == host.user;
    });
    const auto machine = same != before.end()
                             ? same
                             : std::ranges::find(before, host.address, &remote::Host::address);
    if (machine == before.end()) continue;
    host.host_key_alias = machine->host_key_alias;
    host.known_hosts = machine->known_hosts;
    if (same == before.end()) continue;
    host.name = same->name;
    host.certificate_files = same->certificate_files;
    host.identities_only = same->identities_only && same->identity_files == host.identity_files;
    if (same->jump != host.jump) continue;
    host.proxy_command = same->proxy_command;
    host.control_path = same->control_path;
    host.jump_control_path = same->jump_control_path;
  }
}

}  // namespace

HostForm formOf(const remote::Host& offered) {
  return {QString::fromStdString(offered.name),
          QString::fromStdString(offered.name),
          QString::fromStdString(offered.jump),
          fieldOf(offered.identity_files),
          {},
          false,
          {}};
}

namespace {

/// Hosts as they are typed.
QString fieldOf(const std::vector<remote::Host>& hosts, bool isBatch) {
  QStringList texts;
  for (const remote::Host& host : hosts) {
    if (host.is_this_machine()) {
      // A batch system without a host is on this machine.
      if (!isBatch) texts << QString::fromLatin1(remote::kThisMachine.data());
      continue;
    }
    QString text = QString::fromStdString(host.address);
    if (text.contains(QLatin1Char(':'))) text = QLatin1Char('[') + text + QLatin1Char(']');
    if (!host.user.empty()) text.prepend(QString::fromStdString(host.user) + QLatin1Char('@'));
    if (host.port != 22) text += QStringLiteral(":%1").arg(host.port);
    texts << text;
  }
  return texts.join(QStringLiteral(", "));
}

}  // namespace

HostForm formOf(const remote::Target& target) {
  HostForm form = formOf(target.hosts.front());
  form.hosts = fieldOf(target.hosts, target.job.has_value());
  form.spares = fieldOf(target.spares, false);
  form.name = QString::fromStdString(target.name);
  form.root = QString::fromStdString(target.root);
  form.publicAddresses = target.public_addresses;
  form.job = target.job;
  form.dataRoot = QString::fromStdString(target.data_root);
  form.prelude = QString::fromStdString(target.prelude);
  form.container = QString::fromStdString(target.container);
  return form;
}

HostDialog::HostDialog(const QStringList& taken, QWidget* parent)
    : Dialog(tr("Add host"), QStringLiteral("targets"), Tone::accent, parent), taken_(taken) {
  setMinimumWidth(520);
  auto* grid = new QGridLayout;
  grid->setHorizontalSpacing(12);
  grid->setVerticalSpacing(8);
  int row = 0;
  const auto add = [&](const QString& id, const QString& text, const QString& placeholder) {
    auto* field = new QLineEdit;
    field->setObjectName(id);
    field->setPlaceholderText(placeholder);
    QLabel* name = fieldLabel(text, field);
    name->setMinimumWidth(96);
    grid->addWidget(name, row, 0);
    grid->addWidget(field, row++, 1);
    connect(field, &QLineEdit::textChanged, this, &HostDialog::check);
    return field;
  };
  hosts_ =
      add(QStringLiteral("hosts"), tr("host"), tr("[user@]host[:port] or a name in ~/.ssh/config"));
  hosts_->setToolTip(tr("Several make a group: [user@]host[:port] or names of ~/.ssh/config"));
  spares_ = add(QStringLiteral("spares"), tr("spares"), tr("[user@]host[:port]; optional"));
  spares_->setToolTip(
      tr("Hosts that run nothing until a run loses one of the hosts. They share the folder there "
         "with the hosts"));
  name_ = add(QStringLiteral("name"), tr("name"), tr("what this target is called here"));
  jump_ = add(QStringLiteral("jump"), tr("through"),
              tr("[user@]host[:port] to jump through; optional"));
  key_ = add(QStringLiteral("key"), tr("key file"), tr("empty: the agent and the keys in ~/.ssh"));
  root_ = add(QStringLiteral("root"), tr("folder there"), QStringLiteral("~/.heddle"));
  dataRoot_ = add(QStringLiteral("dataRoot"), tr("data there"),
                  tr("a scratch folder for inputs; empty: the folder"));
  prelude_ = add(QStringLiteral("prelude"), tr("prelude"),
                 tr("a file that loads modules, sourced there; optional"));
  prelude_->setToolTip(
      tr("A file of this computer. The shell that starts a run there sources it: modules, "
         "environment. Probing says what it does."));
  container_ = add(QStringLiteral("container"), tr("container"), tr("apptainer:IMAGE; optional"));
  for (const remote::BatchSystem& system : remote::batch_systems()) {
    addSystem(system, grid, row);
    row += 2;
  }
  public_ = new QCheckBox(tr("ranks may listen on public addresses"));
  public_->setObjectName(QStringLiteral("public"));
  connect(public_, &QCheckBox::toggled, this, &HostDialog::check);
  grid->addWidget(public_, row++, 1);
  publicMeaning_ = muted(
      tr("Only for hosts that have no private network between them. Anyone on the internet can "
         "then reach the ranks while they connect, and what they send each other crosses it."));
  publicMeaning_->setWordWrap(true);
  grid->addWidget(publicMeaning_, row++, 1);
  body()->addLayout(grid);
  fault_ = label({}, "error");
  fault_->setObjectName(QStringLiteral("fault"));
  fault_->setWordWrap(true);
  fault_->setAlignment(Qt::AlignTop | Qt::AlignLeft);
  notes_ = muted({});
  notes_->setObjectName(QStringLiteral("notes"));
  notes_->setWordWrap(true);
  QVBoxLayout* told = addRoom(kTold, 4);
  told->addWidget(fault_);
  told->addWidget(notes_);
  told->addStretch(1);
  QPushButton* cancel = quietButton(tr("Cancel"));
  connect_ = primaryButton(tr("Connect"));
  connect_->setObjectName(QStringLiteral("connect"));
  connect_->setDefault(true);
  addButton(cancel);
  addButton(connect_);
  connect(cancel, &QPushButton::clicked, this, &QDialog::reject);
  connect(connect_, &QPushButton::clicked, this, &QDialog::accept);
  connect(hosts_, &QLineEdit::textEdited, this, [this](const QString& text) {
    if (!name_->isModified())
      name_->setText(text.section(QChar('@'), -1).section(QChar(':'), 0, 0).trimmed());
  });
  showKind();
}

void HostDialog::addSystem(const remote::BatchSystem& system, QGridLayout* grid, int row) {
  auto* mark = new QCheckBox(translated(system.mark));
  mark->setObjectName(QString::fromLatin1(system.key));
  grid->addWidget(mark, row, 1);
  auto* fields = new JobFields(system);
  connect(fields, &JobFields::changed, this, &HostDialog::check);
  grid->addWidget(fields, row + 1, 0, 1, 2);
  systems_.push_back({system, mark, fields});
  connect(mark, &QCheckBox::toggled, this, [this, mark](bool set) {
    if (set)
      for (const System& other : systems_)
        if (other.mark != mark) other.mark->setChecked(false);
    showKind();
  });
}

const HostDialog::System* HostDialog::marked() const {
  const auto found =
      std::ranges::find_if(systems_, [](const System& each) { return each.mark->isChecked(); });
  return found == systems_.end() ? nullptr : &*found;
}

void HostDialog::showKind() {
  const System* batch = marked();
  hosts_->setPlaceholderText(batch ? tr("[user@]host[:port]; empty: this computer")
                                   : tr("[user@]host[:port] or a name of ~/.ssh/config"));
  container_->setPlaceholderText(batch && batch->system.has_pyxis
                                     ? tr("apptainer:IMAGE or pyxis:IMAGE; optional")
                                     : tr("apptainer:IMAGE; optional"));
  root_->setPlaceholderText(batch && batch->system.has_many_nodes
                                ? tr("~/.heddle; the nodes must see it, too")
                                : QStringLiteral("~/.heddle"));
  for (const System& each : systems_) each.fields->setVisible(each.mark->isChecked());
  spares_->setEnabled(!batch);
  public_->setVisible(!batch);
  publicMeaning_->setVisible(!batch);
  check();
}

void HostDialog::edit(const remote::Target& target) {
  edited_ = target;
  taken_.removeAll(QString::fromStdString(target.name));
  setTitle(tr("Edit %1").arg(QString::fromStdString(target.name)));
  connect_->setText(tr("Save"));
}

void HostDialog::fill(const HostForm& form) {
  hosts_->setText(form.hosts);
  name_->setText(form.name);
  name_->setModified(!form.name.isEmpty());
  jump_->setText(form.jump);
  key_->setText(form.key);
  root_->setText(form.root);
  dataRoot_->setText(form.dataRoot);
  prelude_->setText(form.prelude);
  container_->setText(form.container);
  spares_->setText(form.spares);
  public_->setChecked(form.publicAddresses);
  for (const System& each : systems_) {
    const bool is_it = form.job && form.job->system == each.system.key;
    each.fields->fill(is_it ? *form.job : remote::JobRequest{});
    each.mark->setChecked(is_it);
  }
}

HostForm HostDialog::form() const {
  const System* batch = marked();
  return {hosts_->text(),
          name_->text(),
          jump_->text(),
          key_->text(),
          root_->text(),
          public_->isChecked(),
          batch ? std::optional(batch->fields->request()) : std::nullopt,
          dataRoot_->text(),
          prelude_->text(),
          container_->text(),
          batch ? QString() : spares_->text()};
}

void HostDialog::check() {
  connect_->setEnabled(false);
  const auto say = [](QLabel* label, const QString& text) {
    label->setText(text);
    label->setVisible(!text.isEmpty());
  };
  say(fault_, {});
  say(notes_, {});
  const bool isBatch = marked() != nullptr;
  if ((!isBatch && hosts_->text().trimmed().isEmpty()) || name_->text().trimmed().isEmpty()) return;
  if (taken_.contains(name_->text().trimmed()))
    return say(fault_, tr("name: there is a target %1 already").arg(name_->text().trimmed()));
  QStringList notes;
  auto target = targetOf(form(), notes);
  if (!target) return say(fault_, QString::fromStdString(target.error().message));
  notes.removeDuplicates();
  say(notes_, notes.join(QLatin1Char('\n')));
  target_ = std::move(*target);
  if (edited_) {
    remote::keep_keys(target_, *edited_);
    takeOver(edited_->hosts, target_.hosts);
    takeOver(edited_->spares, target_.spares);
  }
  target_.public_addresses = !isBatch && public_->isChecked();
  connect_->setEnabled(true);
}

}  // namespace heddle::gui
