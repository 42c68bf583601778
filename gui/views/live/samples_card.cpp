#include "gui/views/live/samples_card.h"

#include <QTextCursor>

#include "gui/format.h"
#include "gui/theme/theme.h"
#include "gui/widgets/focus_line.h"

namespace heddle::gui {

SamplesCard::SamplesCard(QWidget* parent) : Card(tr("Samples"), parent) {
  previous_ = iconButton(QStringLiteral("chevron-left"), tr("Samples of the step before"));
  next_ = iconButton(QStringLiteral("chevron-right"), tr("Samples of the next step"));
  chooser_ = new QComboBox;
  chooser_->setAccessibleName(tr("Step of the samples"));
  chooser_->setMinimumWidth(72);  // the card keeps the log's width
  auto* log = linkButton(tr("log"));
  log->setToolTip(tr("Show the log again"));
  for (QWidget* control : {static_cast<QWidget*>(previous_), static_cast<QWidget*>(chooser_),
                           static_cast<QWidget*>(next_), static_cast<QWidget*>(log)})
    addControl(control);
  view_ = new QTextBrowser;
  view_->setOpenLinks(false);
  new FocusLine(view_);
  view_->setFrameShape(QFrame::NoFrame);
  view_->setStyleSheet(QStringLiteral("QTextBrowser { border: none; background: transparent; }"));
  view_->setWordWrapMode(QTextOption::WrapAtWordBoundaryOrAnywhere);
  view_->setAccessibleName(tr("Samples"));
  setBodyMargins(16, 0, 0, 8);
  body()->addWidget(view_, 1);
  connect(log, &QPushButton::clicked, this, &SamplesCard::logWanted);
  connect(chooser_, &QComboBox::currentIndexChanged, this, &SamplesCard::display);
  connect(previous_, &QToolButton::clicked, this,
          [this] { chooser_->setCurrentIndex(chooser_->currentIndex() - 1); });
  connect(next_, &QToolButton::clicked, this,
          [this] { chooser_->setCurrentIndex(chooser_->currentIndex() + 1); });
  connect(&Theme::instance(), &Theme::changed, this, &SamplesCard::display);
  display();
}

void SamplesCard::clear() {
  steps_.clear();
  chooser_->clear();
  display();
}

void SamplesCard::append(const std::vector<storage::LogLine>& lines, const QString& prompt) {
  prompt_ = prompt;
  const bool newest = chooser_->currentIndex() == chooser_->count() - 1;
  bool came = false;
  for (const storage::LogLine& line : lines) {
    auto sample = telemetry::sample_of(line.text);
    if (!sample || line.rank < 0) continue;
    came = true;
    std::vector<telemetry::Sample>& there = steps_[sample->step];
    // A later attempt repeats the step: its own replace the others.
    std::erase_if(there, [&](const telemetry::Sample& each) { return each.how == sample->how; });
    there.push_back(std::move(*sample));
  }
  if (!came) return;
  const QVariant shown = chooser_->currentData();
  {
    const QSignalBlocker quiet(chooser_);
    chooser_->clear();
    for (const auto& [step, samples] : steps_)
      chooser_->addItem(tr("step %1").arg(format::count(step)), QVariant::fromValue<qint64>(step));
    chooser_->setCurrentIndex(newest ? chooser_->count() - 1 : chooser_->findData(shown));
  }
  display();
}

/// The prompt is muted: the rest is the model's.
void SamplesCard::display() {
  const int index = chooser_->currentIndex();
  previous_->setEnabled(index > 0);
  next_->setEnabled(index + 1 < chooser_->count());
  view_->clear();
  const auto found = steps_.find(step());
  if (found == steps_.end()) return;
  QTextCursor cursor(view_->document());
  QTextCharFormat muted, words;
  muted.setForeground(colors().muted);
  words.setForeground(colors().text);
  QTextCharFormat how = muted;
  how.setFont(font::text(11));
  muted.setFont(font::text(13));
  words.setFont(font::text(13));
  QTextBlockFormat apart;
  apart.setTopMargin(12);
  for (const telemetry::Sample& sample : found->second) {
    if (sample.how == found->second.front().how)
      cursor.setBlockFormat({});
    else
      cursor.insertBlock(apart);
    cursor.insertText(QString::fromStdString(sample.how), how);
    cursor.insertBlock(QTextBlockFormat());
    QString text = QString::fromStdString(sample.text);
    const bool begins = text.startsWith(prompt_);
    if (begins) cursor.insertText(prompt_, muted);
    cursor.insertText(begins ? text.mid(prompt_.size()) : text, words);
  }
  view_->moveCursor(QTextCursor::Start);
}

}  // namespace heddle::gui
