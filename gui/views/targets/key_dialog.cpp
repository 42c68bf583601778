#include "gui/views/targets/key_dialog.h"

#include <QClipboard>
#include <QGuiApplication>

#include "gui/theme/theme.h"

namespace heddle::gui {
namespace {

constexpr int kGroup = 4, kGroupsInLine = 6;

/// The fingerprint in groups of four, two lines: easier to compare by eye.
QString grouped(const QString& fingerprint) {
  const QString prefix = fingerprint.section(QChar(':'), 0, 0) + QChar(':');
  const QString digits = fingerprint.mid(prefix.size());
  QString text = prefix;
  for (qsizetype at = 0, group = 0; at < digits.size(); at += kGroup, ++group) {
    if (group > 0)
      text += group % kGroupsInLine == 0 ? QChar('\n') + QString(prefix.size(), QChar(' '))
                                         : QStringLiteral(" ");
    text += digits.mid(at, kGroup);
  }
  return text;
}

QLabel* wrapped(const QString& text) {
  auto* made = new QLabel(text);
  made->setWordWrap(true);
  return made;
}

QFrame* fingerprintBox(const QString& caption, const QString& fingerprint) {
  auto* box = new QFrame;
  box->setProperty("role", "inset");
  auto* copy = linkButton(Dialog::tr("copy"));
  QObject::connect(copy, &QPushButton::clicked, box,
                   [fingerprint] { QGuiApplication::clipboard()->setText(fingerprint); });
  auto* digits = new QLabel(grouped(fingerprint));
  digits->setObjectName(QStringLiteral("fingerprint"));
  digits->setAccessibleName(fingerprint);
  digits->setStyleSheet(QStringLiteral("font-family: 'JetBrains Mono'; font-size: 14px;"));
  digits->setTextInteractionFlags(Qt::TextSelectableByMouse);
  auto* head = new QHBoxLayout;
  head->addWidget(muted(caption), 1);
  head->addWidget(copy);
  auto* column = new QVBoxLayout(box);
  column->setContentsMargins(12, 8, 12, 12);
  column->setSpacing(4);
  column->addLayout(head);
  column->addWidget(digits);
  return box;
}

}  // namespace

UnknownKeyDialog::UnknownKeyDialog(const remote::ConnectError& error, QWidget* parent)
    : Dialog(tr("Unknown host key"), QStringLiteral("key"), Tone::warn, parent),
      fingerprint_(QString::fromStdString(error.key.fingerprint)) {
  const QString endpoint = QString::fromStdString(error.key.endpoint);
  body()->addWidget(wrapped(tr("Heddle has never connected to %1. Nothing has been sent. Compare "
                               "the fingerprint with the one its admin gives you.")
                                .arg(endpoint)));
  if (!error.because.empty()) body()->addWidget(wrapped(QString::fromStdString(error.because)));
  body()->addWidget(fingerprintBox(endpoint, fingerprint_));
  pasted_ = new QLineEdit;
  pasted_->setObjectName(QStringLiteral("pasted"));
  pasted_->setProperty("role", "mono");
  body()->addWidget(fieldLabel(tr("Paste the fingerprint to compare (optional)"), pasted_));
  body()->addWidget(pasted_);
  verdict_ = new QLabel;
  verdict_->setMinimumHeight(18);
  body()->addWidget(verdict_);
  auto* hint = mono(QStringLiteral("ssh-keygen -lf /etc/ssh/ssh_host_ed25519_key.pub"));
  hint->setTextInteractionFlags(Qt::TextSelectableByMouse);
  auto* row = new QHBoxLayout;
  row->addWidget(muted(tr("On the host:")));
  row->addWidget(hint, 1);
  body()->addLayout(row);
  cancel_ = quietButton(tr("Cancel"));
  cancel_->setObjectName(QStringLiteral("cancel"));
  save_ = primaryButton(tr("Save key"));
  save_->setObjectName(QStringLiteral("saveKey"));
  addButton(cancel_);
  addButton(save_);
  cancel_->setDefault(true);
  pasted_->setFocus();
  connect(cancel_, &QPushButton::clicked, this, &QDialog::reject);
  connect(save_, &QPushButton::clicked, this, &QDialog::accept);
  connect(pasted_, &QLineEdit::textChanged, this, &UnknownKeyDialog::compare);
}

void UnknownKeyDialog::compare() {
  const QString text = pasted_->text().simplified();
  const bool same = text.contains(fingerprint_);
  verdict_->setText(text.isEmpty() ? QString() : same ? tr("The same") : tr("Not the same key"));
  setTone(verdict_, same ? "good" : "bad");
  save_->setEnabled(text.isEmpty() || same);
  (same ? save_ : cancel_)->setDefault(true);
}

RefusedKeyDialog::RefusedKeyDialog(const remote::ConnectError& error, QWidget* parent)
    : Dialog(error.kind == remote::ConnectError::Kind::host_key_changed
                 ? tr("The host key has changed")
                 : tr("The host key is refused"),
             QStringLiteral("warning"), Tone::bad, parent) {
  body()->addWidget(wrapped(QString::fromStdString(error.message)));
  if (!error.key.fingerprint.empty())
    body()->addWidget(
        fingerprintBox(tr("presented now"), QString::fromStdString(error.key.fingerprint)));
  const QString advice =
      error.kind == remote::ConnectError::Kind::host_key_changed
          ? tr("Ask the host's admin. If the change is intended, remove the target (or the line "
               "that "
               "is named above) and add it again with the fingerprint the admin gives you.")
          : tr("Ask the host's admin, and change nothing before: neither the target nor a "
               "known_hosts "
               "file.");
  body()->addWidget(
      wrapped(tr("Heddle has not connected, and nothing has been sent. %1").arg(advice)));
  QPushButton* close = quietButton(tr("Close"));
  close->setObjectName(QStringLiteral("close"));
  close->setDefault(true);
  addButton(close);
  connect(close, &QPushButton::clicked, this, &QDialog::reject);
}

}  // namespace heddle::gui
