#include "gui/theme/icons.h"

#include <QFile>
#include <QIconEngine>
#include <QPaintEngine>
#include <QPainter>
#include <QPixmapCache>
#include <QSvgRenderer>

#include "gui/theme/theme.h"

namespace heddle::gui {
namespace {

class TintedIcon : public QIconEngine {
 public:
  TintedIcon(QString name, Tone tone) : name_(std::move(name)), tone_(tone) {}

  void paint(QPainter* painter, const QRect& rect, QIcon::Mode mode, QIcon::State) override {
    QColor color = mode == QIcon::Disabled ? colors().muted : colorOf(tone_);
    if (mode == QIcon::Disabled) color.setAlphaF(0.45F);
    draw(painter, rect, color);
  }

  QPixmap pixmap(const QSize& size, QIcon::Mode mode, QIcon::State state) override {
    QPixmap pixmap(size);
    pixmap.fill(Qt::transparent);
    QPainter painter(&pixmap);
    paint(&painter, QRect(QPoint(0, 0), size), mode, state);
    return pixmap;
  }

  QIconEngine* clone() const override { return new TintedIcon(name_, tone_); }

  void draw(QPainter* painter, const QRect& rect, const QColor& color) const {
    const int side = std::min(rect.width(), rect.height());
    if (side <= 0) return;
    const QRectF square(rect.x() + (rect.width() - side) / 2.0,
                        rect.y() + (rect.height() - side) / 2.0, side, side);
    painter->save();
    painter->setOpacity(painter->opacity() * color.alphaF());
    // A table row has an icon: reading an outline takes as long as painting the rest of the row.
    const bool asPixels = painter->paintEngine()->type() == QPaintEngine::Raster &&
                          painter->transform().type() <= QTransform::TxTranslate &&
                          square.topLeft() == QPointF(square.toRect().topLeft());
    if (asPixels)
      painter->drawPixmap(square.topLeft(),
                          pixels(side, color, painter->device()->devicePixelRatioF()));
    else
      render(*painter, square, color);
    painter->restore();
  }

 private:
  QPixmap pixels(int side, const QColor& color, double ratio) const {
    const QString key =
        QStringLiteral("%1 %2 %3 %4").arg(name_, color.name(QColor::HexRgb)).arg(side).arg(ratio);
    QPixmap pixmap;
    if (QPixmapCache::find(key, &pixmap)) return pixmap;
    pixmap = QPixmap(QSize(side, side) * ratio);
    pixmap.setDevicePixelRatio(ratio);
    pixmap.fill(Qt::transparent);
    QPainter painter(&pixmap);
    render(painter, QRectF(0, 0, side, side), color);
    QPixmapCache::insert(key, pixmap);
    return pixmap;
  }

  void render(QPainter& painter, const QRectF& square, const QColor& color) const {
    QFile file(QStringLiteral(":/heddle/icons/%1.svg").arg(name_));
    if (!file.open(QIODevice::ReadOnly)) return;
    QByteArray svg = file.readAll();
    svg.replace("#000", color.name(QColor::HexRgb).toLatin1());
    QSvgRenderer(svg).render(&painter, square);
  }

  QString name_;
  Tone tone_;
};

}  // namespace

QIcon icon(const QString& name, Tone tone) { return QIcon(new TintedIcon(name, tone)); }

QColor colorOf(Tone tone) {
  const Colors& c = colors();
  switch (tone) {
    case Tone::text:
      return c.text;
    case Tone::muted:
      return c.muted;
    case Tone::accent:
      return c.accentText;
    case Tone::onAccent:
      return c.onAccent;
    case Tone::good:
      return c.goodText;
    case Tone::warn:
      return c.warnText;
    case Tone::bad:
      return c.badText;
  }
  return c.text;
}

QPixmap iconPixmap(const QString& name, int size, const QColor& color, double pixelRatio) {
  QPixmap pixmap(QSize(size, size) * pixelRatio);
  pixmap.setDevicePixelRatio(pixelRatio);
  pixmap.fill(Qt::transparent);
  QPainter painter(&pixmap);
  TintedIcon(name, Tone::text).draw(&painter, QRect(0, 0, size, size), color);
  return pixmap;
}

}  // namespace heddle::gui
