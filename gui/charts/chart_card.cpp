#include "gui/charts/chart_card.h"

#include <QApplication>
#include <QContextMenuEvent>
#include <QMouseEvent>
#include <QPainter>
#include <QToolButton>

#include "gui/charts/chart_menu.h"
#include "gui/charts/chart_options.h"
#include "gui/session.h"
#include "gui/theme/theme.h"

namespace heddle::gui {
namespace {

constexpr int kGrip = 14;

/// The corner that is dragged; the menu has the same for keys.
class CardGrip : public QWidget {
 public:
  CardGrip(QWidget* card, std::function<void(const QSize&)> resized)
      : QWidget(card), resized_(std::move(resized)) {
    setCursor(Qt::SizeFDiagCursor);
    setFixedSize(kGrip, kGrip);
  }

 protected:
  void mouseMoveEvent(QMouseEvent* event) override {
    const QPoint at = parentWidget()->mapFromGlobal(event->globalPosition().toPoint());
    resized_(QSize(at.x(), at.y()));
  }
  void mousePressEvent(QMouseEvent* event) override { event->accept(); }
  void paintEvent(QPaintEvent*) override {
    QPainter painter(this);
    painter.setPen(colors().line);
    for (const int at : {4, 8})
      painter.drawLine(kGrip - 3 - at, kGrip - 3, kGrip - 3, kGrip - 3 - at);
  }

 private:
  std::function<void(const QSize&)> resized_;
};

}  // namespace

ChartCard::ChartCard(Session& session, ChartSpec spec, QWidget* parent)
    : MetricChart(session, std::move(spec), parent), session_(session) {
  more_ = iconButton(QStringLiteral("more"), tr("Menu of %1").arg(title()));
  addControl(more_);
  connect(more_, &QToolButton::clicked, this,
          [this] { openMenu(more_->mapToGlobal(QPoint(0, more_->height()))); });
  grip_ = new CardGrip(this, [this](const QSize& size) { Q_EMIT sizeWanted(size); });
}

void ChartCard::openMenu(const QPoint& at) {
  QMenu* menu = makeMenu();
  menu->setAttribute(Qt::WA_DeleteOnClose);
  menu->popup(at);
}

QMenu* ChartCard::makeMenu() {
  auto* menu = new QMenu(this);
  menu->setAccessibleName(tr("Menu of %1").arg(title()));
  menu->addAction(tr("Options …"), this, [this] { openOptions(); });
  addChartExports(*menu, *this, QString::fromStdString(spec().metric),
                  [this](const QString& text, Tone tone) { Q_EMIT session_.message(text, tone); });
  menu->addSeparator();
  addChanges(*menu);
  return menu;
}

void ChartCard::addChanges(QMenu& menu) {
  const auto add = [&](const QString& text, const QString& keys, Change change) {
    // The keys are the chart's own (keyPressEvent), not shortcuts of the window.
    menu.addAction(keys.isEmpty() ? text : text + QLatin1Char('\t') + keys, this,
                   [this, change] { Q_EMIT changeWanted(change); });
  };
  add(tr("Move left"), QStringLiteral("Alt+Left"), Change::earlier);
  add(tr("Move right"), QStringLiteral("Alt+Right"), Change::later);
  add(tr("Wider"), QStringLiteral("Alt+Shift+Right"), Change::wider);
  add(tr("Narrower"), QStringLiteral("Alt+Shift+Left"), Change::narrower);
  add(tr("Taller"), QStringLiteral("Alt+Down"), Change::taller);
  add(tr("Shorter"), QStringLiteral("Alt+Up"), Change::shorter);
  menu.addSeparator();
  add(tr("Remove"), QStringLiteral("Del"), Change::remove);
}

void ChartCard::openOptions() {
  auto* options = new ChartOptions(*this);
  connect(options, &ChartOptions::forAllWanted, this, &ChartCard::forAllWanted);
  options->open(more_);
}

void ChartCard::contextMenuEvent(QContextMenuEvent* event) {
  const bool byKey = event->reason() == QContextMenuEvent::Keyboard;
  openMenu(byKey ? more_->mapToGlobal(QPoint(0, more_->height())) : event->globalPos());
}

void ChartCard::keyPressEvent(QKeyEvent* event) {
  const bool alt = event->modifiers().testFlag(Qt::AltModifier);
  const bool shift = event->modifiers().testFlag(Qt::ShiftModifier);
  if (!alt && event->key() != Qt::Key_Delete) return MetricChart::keyPressEvent(event);
  switch (event->key()) {
    case Qt::Key_Left:
      return Q_EMIT changeWanted(shift ? Change::narrower : Change::earlier);
    case Qt::Key_Right:
      return Q_EMIT changeWanted(shift ? Change::wider : Change::later);
    case Qt::Key_Up:
      return Q_EMIT changeWanted(Change::shorter);
    case Qt::Key_Down:
      return Q_EMIT changeWanted(Change::taller);
    case Qt::Key_Delete:
      return Q_EMIT changeWanted(Change::remove);
    default:
      return MetricChart::keyPressEvent(event);
  }
}

/// Only presses beside the plot and the controls arrive here: on the head.
void ChartCard::mousePressEvent(QMouseEvent* event) {
  if (event->button() != Qt::LeftButton) return MetricChart::mousePressEvent(event);
  dragFrom_ = event->pos();
  setFocus(Qt::MouseFocusReason);
}

void ChartCard::mouseMoveEvent(QMouseEvent* event) {
  if (!dragFrom_) return;
  if ((event->pos() - *dragFrom_).manhattanLength() >= QApplication::startDragDistance() &&
      !dragging_) {
    dragging_ = true;
    setCursor(Qt::ClosedHandCursor);
  }
  if (dragging_) Q_EMIT dragged(mapToParent(event->pos()));
}

void ChartCard::mouseReleaseEvent(QMouseEvent* event) {
  dragFrom_.reset();
  if (!std::exchange(dragging_, false)) return;
  unsetCursor();
  Q_EMIT placeWanted(mapToParent(event->pos()));
}

void ChartCard::resizeEvent(QResizeEvent* event) {
  MetricChart::resizeEvent(event);
  grip_->move(width() - kGrip - 1, height() - kGrip - 1);
  grip_->raise();
}

}  // namespace heddle::gui
