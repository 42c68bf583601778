#include "gui/views/live/run_banner.h"

#include <QDateTime>
#include <QHBoxLayout>
#include <QPainter>

#include "gui/format.h"
#include "gui/models/state_look.h"
#include "gui/theme/theme.h"
#include "workbench/lost_hosts.h"

namespace heddle::gui {

QString gapText(const std::vector<storage::LogGap>& gaps) {
  if (gaps.empty()) return {};
  const storage::LogGap& gap = gaps.front();
  const QString log = gap.rank < 0 ? RunBanner::tr("the supervisor's log")
                                   : RunBanner::tr("rank %1's log").arg(gap.rank);
  QString text =
      RunBanner::tr("In %1, %2 from byte %3 on are damaged (%4); all intact records were read.")
          .arg(log, format::plural(static_cast<qint64>(gap.bytes), counted::kByte),
               format::count(static_cast<qint64>(gap.offset)), QString::fromStdString(gap.reason));
  if (gaps.size() > 1) {
    text += QLatin1Char(' ') + RunBanner::tr("And %1.").arg(format::plural(
                                   static_cast<qint64>(gaps.size()) - 1, counted::kMoreGap));
  }
  return text;
}

namespace {

/// The text as a sentence.
QString sentence(QString text) {
  static const QString ends = QStringLiteral(".?!");
  if (text.isEmpty()) return text;
  text[0] = text[0].toUpper();
  return ends.contains(text.back()) ? text : text + QChar('.');
}

/// The reason for no response, the next attempt, and the age of the figures on screen.
QString silence(const Contact& contact, const ContactLook& look, const QString& asked) {
  using Word = ContactLook::Word;
  if (look.word == Word::waiting || look.word == Word::silent) return sentence(look.text);
  QStringList parts;
  if (contact.link && !contact.link->reason.empty())
    parts << QString::fromStdString(contact.link->reason);
  if (look.word == ContactLook::Word::unfollowed)
    parts << RunBanner::tr("a run is followed while a workbench has its store open");
  else if (look.word != ContactLook::Word::quiet)
    parts << look.text;
  if (contact.link && contact.link->heard > 0)
    parts << RunBanner::tr("the figures are from %1")
                 .arg(
                     QDateTime::fromMSecsSinceEpoch(static_cast<qint64>(contact.link->heard * 1000))
                         .toString(QStringLiteral("HH:mm:ss")));
  if (look.word == ContactLook::Word::lost) parts << asked;
  QStringList sentences;
  for (const QString& part : parts)
    if (!part.isEmpty()) sentences << sentence(part);
  return sentences.join(QChar(' '));
}

}  // namespace

RunBanner::RunBanner(QWidget* parent) : QFrame(parent) {
  setObjectName(QStringLiteral("banner"));
  sign_ = new Symbol(18);
  sign_->setFixedSize(20, 20);
  title_ = section({});
  cause_ = label({});
  cause_->setWordWrap(true);
  cause_->setTextInteractionFlags(Qt::TextSelectableByMouse);
  recipe_ = quietButton(tr("Open its recipe"), QStringLiteral("compose"));
  auto* row = new QHBoxLayout(this);
  row->setContentsMargins(16, 6, 8, 6);
  row->setSpacing(12);
  row->addWidget(sign_);
  row->addWidget(title_);
  row->addWidget(cause_, 1);
  row->addWidget(recipe_);
  next_ = quietButton(tr("Show how it goes on"), QStringLiteral("live"));
  next_->setObjectName(QStringLiteral("goesOnAs"));
  row->addWidget(next_);
  connect(next_, &QPushButton::clicked, this, [this] { Q_EMIT runWanted(nextRun_); });
  connect(recipe_, &QPushButton::clicked, this, &RunBanner::recipeWanted);
  hide();
}

QString RunBanner::text() const { return title_->text() + QStringLiteral(": ") + cause_->text(); }

void RunBanner::setRun(const storage::RunDetail& run, const std::vector<storage::LogGap>& gaps,
                       const Contact& contact, const ContactLook& heard, const Words& words) {
  using storage::RunState;
  const RunState state = run.summary.state;
  QString title;
  StateLook look = lookOf(state);
  if (state == RunState::failed) title = tr("The run failed");
  if (state == RunState::lost) title = tr("The run is lost");
  if (state == RunState::stopped) title = tr("Stopped");
  QStringList causes;
  if (!title.isEmpty() && !run.summary.cause.empty()) {
    causes << QString::fromStdString(run.summary.cause);
  }
  if (state == RunState::stopped && !words.left.isEmpty()) causes << words.left;
  if (!heard.fresh()) {
    title = heard.title;
    look = lookOf(state, heard);
    causes << silence(contact, heard, words.asked);
  } else if (!words.heldUp.isEmpty()) {
    title = tr("A rank lags");
    look = {QStringLiteral("warning"), Tone::warn};
    causes << words.heldUp;
  }
  if (!words.restarts.isEmpty()) {
    if (title.isEmpty()) {
      title = tr("A rank failed, and the run goes on");
      if (storage::has_ended(state)) title = tr("Ranks failed on the way");
      look = {QStringLiteral("warning"), Tone::warn};
    }
    causes << sentence(words.restarts);
  }
  if (!words.alerts.isEmpty()) {
    if (title.isEmpty()) {
      title = words.alerts.size() == 1 ? tr("Alert") : tr("%1 alerts").arg(words.alerts.size());
      look = {QStringLiteral("warning"), Tone::warn};
    }
    for (const QString& alert : words.alerts) causes << sentence(alert);
  }
  if (!gaps.empty()) {
    if (title.isEmpty()) {
      title = tr("A log is damaged");
      look = {QStringLiteral("warning"), Tone::warn};
    }
    causes << gapText(gaps);
  }
  if (title.isEmpty()) return setVisible(false);
  title_->setText(title);
  cause_->setText(causes.join(QLatin1Char('\n')));
  nextRun_ = workbench::loss_of(run).goes_on_as;
  next_->setVisible(nextRun_ > 0);
  recipe_->setVisible(nextRun_ == 0 && (state == RunState::failed || state == RunState::lost));
  tone_ = look.tone;
  sign_->set(look.icon, tone_);
  setAccessibleName(text());
  setVisible(true);
  update();
}

void RunBanner::paintEvent(QPaintEvent*) {
  const Colors& c = colors();
  QPainter painter(this);
  painter.setRenderHint(QPainter::Antialiasing);
  const QColor tint = tone_ == Tone::muted ? c.raised : colorOf(tone_);
  painter.setPen(QPen(tone_ == Tone::muted ? c.line : blend(c.surface, tint, 0.5), 1));
  painter.setBrush(tone_ == Tone::muted ? c.surface : blend(c.surface, tint, 0.10));
  painter.drawRoundedRect(QRectF(rect()).adjusted(0.5, 0.5, -0.5, -0.5), metric::radius,
                          metric::radius);
}

}  // namespace heddle::gui
