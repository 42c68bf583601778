// Fusion with Heddle's check boxes and icons: what a style sheet cannot draw in the theme's
// colours.
#pragma once

#include <QProxyStyle>

namespace heddle::gui {

class Style : public QProxyStyle {
  Q_OBJECT

 public:
  Style();
  void drawPrimitive(PrimitiveElement element, const QStyleOption* option, QPainter* painter,
                     const QWidget* widget) const override;
  int pixelMetric(PixelMetric metric, const QStyleOption* option,
                  const QWidget* widget) const override;
  int styleHint(StyleHint hint, const QStyleOption* option, const QWidget* widget,
                QStyleHintReturn* data) const override;
  /// Heddle's own for what its dialogs show; all else is Fusion's.
  QIcon standardIcon(StandardPixmap which, const QStyleOption* option,
                     const QWidget* widget) const override;
  /// Labels, tooltips among them, show text as it is, since names, causes and log lines come from
  /// elsewhere. One that has Qt::RichText draws what is in it: our own words, the rest escaped.
  void polish(QWidget* widget) override;
  using QProxyStyle::polish;
};

}  // namespace heddle::gui
