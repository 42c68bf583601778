#include "gui/views/compose/fault_list.h"

#include <QResizeEvent>

#include "gui/theme/icons.h"
#include "gui/theme/theme.h"

namespace heddle::gui {
namespace {

constexpr int kListMinHeight = 56, kListMaxHeight = 168;

QString faultWords(const recipe::Fault& fault) {
  QString text = QString::fromStdString(fault.key);
  if (!text.isEmpty()) text += QStringLiteral(": ");
  text += QString::fromStdString(fault.what);
  if (!fault.valid.empty()) text += QObject::tr("; valid: ") + QString::fromStdString(fault.valid);
  if (!fault.suggestion.empty()) {
    text += QObject::tr(" (did you mean %1)").arg(QString::fromStdString(fault.suggestion));
  }
  return text;
}

}  // namespace

FaultList::FaultList(RecipeDocument& document, QWidget* parent)
    : QListWidget(parent), document_(document) {
  setObjectName(QStringLiteral("faults"));
  setAccessibleName(tr("Faults of the recipe"));
  setWordWrap(true);
  setFrameShape(NoFrame);
  setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Maximum);
  setFont(font::text(12));
  setIconSize({14, 14});
  setSpacing(2);
  setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
  setVerticalScrollMode(ScrollPerPixel);
  const auto go = [this](const QListWidgetItem* item) {
    Q_EMIT placeRequested(item->data(Qt::UserRole).toInt(), item->data(Qt::UserRole + 1).toInt());
  };
  connect(this, &QListWidget::itemClicked, this, go);
  connect(this, &QListWidget::itemActivated, this, go);
  connect(&document_, &RecipeDocument::changed, this, &FaultList::refresh);
  connect(&Theme::instance(), &Theme::changed, this, &FaultList::refresh);
  refresh();
}

void FaultList::refresh() {
  clear();
  const auto add = [&](const std::vector<recipe::Fault>& faults, bool open, const char* iconName,
                       Tone tone) {
    for (const recipe::Fault& fault : faults) {
      if (document_.isOpen(fault) != open) continue;
      auto* item =
          new QListWidgetItem(icon(QString::fromLatin1(iconName), tone), faultWords(fault), this);
      item->setData(Qt::UserRole, fault.line);
      item->setData(Qt::UserRole + 1, fault.column);
    }
  };
  add(document_.faults(), false, "fail", Tone::bad);
  add(document_.faults(), true, "info", Tone::muted);
  add(document_.unsupported(), false, "warning", Tone::warn);
  add(document_.unsupported(), true, "warning", Tone::warn);
  setVisible(count() > 0);
  fit();
}

void FaultList::resizeEvent(QResizeEvent* event) {
  QListWidget::resizeEvent(event);
  if (event->size().width() != event->oldSize().width()) fit();
}

void FaultList::fit() {
  // A list widget wraps words only within the size that its items give.
  const int width = viewport()->width() - 2 * spacing();
  const int text = width - iconSize().width() - 20;
  int height = 2 * spacing() + 2;
  for (int row = 0; row < count(); ++row) {
    const QRect box =
        fontMetrics().boundingRect(QRect(0, 0, text, 10000), Qt::TextWordWrap, item(row)->text());
    item(row)->setSizeHint({width, box.height() + 6});
    height += box.height() + 6 + 2 * spacing();
  }
  content_ = std::clamp(height, kListMinHeight, kListMaxHeight);
  updateGeometry();
}

}  // namespace heddle::gui
