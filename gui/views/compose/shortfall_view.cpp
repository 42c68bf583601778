#include "gui/views/compose/shortfall_view.h"

#include <QEvent>
#include <algorithm>

#include "engine/recipe/parse.h"
#include "gui/format.h"
#include "gui/theme/theme.h"
#include "gui/views/compose/prediction_words.h"
#include "gui/widgets/basics.h"

namespace heddle::gui {
namespace {

const QString kRanksKey = QStringLiteral("hardware.ranks");

/// As TOML: a bare word is a string, as it is on the command line.
QString source(const QString& value) {
  bool number = false;
  value.toLongLong(&number);
  return number ? value : QStringLiteral("\"%1\"").arg(value);
}

KeyValues changesOf(const plan::Variant& variant, const plan::Document& document) {
  KeyValues pairs;
  if (variant.ranks != document.ranks) pairs.append({kRanksKey, QString::number(variant.ranks)});
  for (const std::string& set : variant.sets) {
    const QString text = QString::fromStdString(set);
    pairs.append({text.section(QChar('='), 0, 0).trimmed(),
                  source(text.section(QChar('='), 1).trimmed().remove(QChar('"')))});
  }
  return pairs;
}

/// "recompute = full, tp = 8".
QString wordsOf(const KeyValues& pairs) {
  QStringList words;
  for (const auto& [key, value] : pairs) {
    const recipe::KeyInfo* info = recipe::find_key(key.toStdString());
    const QString name = info ? QString::fromStdString(info->label) : key;
    words << (value == QStringLiteral("-1")
                  ? QObject::tr("%1 = what is left").arg(name)
                  : QStringLiteral("%1 = %2").arg(name, QString(value).remove(QChar('"'))));
  }
  return words.join(QStringLiteral(", "));
}

QLabel* wrapped(QLabel* words) {
  words->setWordWrap(true);
  return words;
}

}  // namespace

ShortfallView::ShortfallView(QWidget* parent) : QWidget(parent), rows_(new QVBoxLayout(this)) {
  setObjectName(QStringLiteral("shortfall"));
  rows_->setContentsMargins(0, 0, 0, 0);
  rows_->setSpacing(4);
  setCursor(Qt::ArrowCursor);
}

/// Clicks next to its links do not reach the widget around it.
bool ShortfallView::event(QEvent* event) {
  switch (event->type()) {
    case QEvent::MouseButtonPress:
    case QEvent::MouseButtonRelease:
    case QEvent::ToolTip:
      event->accept();
      return true;
    default:
      return QWidget::event(event);
  }
}

void ShortfallView::display(const plan::Document& d,
                            const std::optional<plan::Shortfall>& shortfall, bool looked,
                            bool stale) {
  clear(rows_);
  setVisible(!d.fits());
  if (d.fits()) return;
  const auto rank = std::ranges::find(d.ranks_shown, d.peak_rank, &plan::RankFigures::rank);
  const auto largest = static_cast<plan::Category>(std::ranges::max_element(d.memory.bytes) -
                                                   d.memory.bytes.begin());
  QLabel* lack = wrapped(label(
      tr("Needs %1 more on %2; %3 (%4) takes most of it")
          .arg(format::bytes(d.peak_bytes - d.limit_bytes),
               rank == d.ranks_shown.end() ? tr("rank %1").arg(d.peak_rank) : nameOf(d, *rank),
               nameOf(largest), format::bytes(d.memory[largest]))));
  lack->setObjectName(QStringLiteral("lack"));
  setTone(lack, stale ? "muted" : "bad");
  rows_->addWidget(lack);
  if (looked) rows_->addWidget(caption(tr("Looking for changes that make it fit …")));
  if (!shortfall) return;
  if (!shortfall->closed_by.empty()) rows_->addWidget(caption(tr("These changes make it fit:")));
  for (const plan::Variant& variant : shortfall->closed_by) add(variant, d);
  if (shortfall->least) {
    rows_->addWidget(wrapped(
        caption(tr("No change that was tried makes it fit on %1. The closest needs %2 more:")
                    .arg(format::plural(d.ranks, counted::kRank),
                         format::bytes(shortfall->least->lacks())))));
    add(*shortfall->least, d);
  } else if (shortfall->closed_by.empty()) {
    rows_->addWidget(wrapped(caption(tr("No change that was tried needs less memory."))));
  }
}

void ShortfallView::add(const plan::Variant& variant, const plan::Document& document) {
  const KeyValues changes = changesOf(variant, document);
  const QString words = wordsOf(changes);
  QLabel* link = wrapped(label(QStringLiteral("<a href=\"take\" style=\"color:%1\">%2</a>")
                                   .arg(colors().accentText.name(), words.toHtmlEscaped())));
  link->setObjectName(QStringLiteral("closes"));
  link->setTextFormat(Qt::RichText);
  link->setTextInteractionFlags(Qt::LinksAccessibleByMouse | Qt::LinksAccessibleByKeyboard);
  link->setToolTip(tr("Change the recipe this way; undo reverts it"));
  connect(link, &QLabel::linkActivated, this,
          [this, changes, words] { Q_EMIT taken(changes, words); });
  plan::Document changed;
  changed.step_seconds = variant.step_seconds;
  const Difference step = differenceOf(Figure::step, changed, document, 0);
  rows_->addWidget(link);
  rows_->addWidget(wrapped(
      caption(tr("%1 a rank, step %2 (%3)")
                  .arg(format::bytes(variant.peak_bytes), format::seconds(variant.step_seconds),
                       step.tone == Tone::muted ? tr("as now") : step.shortText))));
}

}  // namespace heddle::gui
