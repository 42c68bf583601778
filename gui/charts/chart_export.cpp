#include "gui/charts/chart_export.h"

#include <QBuffer>
#include <QClipboard>
#include <QGuiApplication>
#include <QSaveFile>
#include <QSvgGenerator>

#include "gui/charts/chart_values.h"
#include "gui/charts/line_chart.h"

namespace heddle::gui {
namespace {

constexpr int kFiner = 2;

QByteArray svgOf(LineChart& chart) {
  QByteArray text;
  QBuffer buffer(&text);
  QSvgGenerator svg;
  const QSize size = chart.pictureSize();
  svg.setOutputDevice(&buffer);
  svg.setSize(size);
  svg.setViewBox(QRect({}, size));
  svg.setTitle(chart.title());
  chart.paintOn(svg, size);
  return text;
}

QByteArray pngOf(LineChart& chart) {
  QByteArray bytes;
  QBuffer buffer(&bytes);
  buffer.open(QIODevice::WriteOnly);
  pictureOf(chart).save(&buffer, "PNG");
  return bytes;
}

}  // namespace

QImage pictureOf(LineChart& chart) {
  const QSize size = chart.pictureSize();
  QImage image(size * kFiner, QImage::Format_ARGB32_Premultiplied);
  image.setDevicePixelRatio(kFiner);
  chart.paintOn(image, size);
  return image;
}

Result<> saveChart(LineChart& chart, const QString& file) {
  QByteArray content;
  if (file.endsWith(QLatin1String(".png"), Qt::CaseInsensitive))
    content = pngOf(chart);
  else if (file.endsWith(QLatin1String(".svg"), Qt::CaseInsensitive))
    content = svgOf(chart);
  else if (file.endsWith(QLatin1String(".csv"), Qt::CaseInsensitive))
    content = textOf(valuesOf(chart), QLatin1Char(',')).toUtf8();
  else
    return fail("{}: a chart is saved as .png, .svg or .csv", file.toStdString());
  QSaveFile out(file);
  if (!out.open(QIODevice::WriteOnly) || out.write(content) != content.size() || !out.commit())
    return fail("{}: {}", file.toStdString(), out.errorString().toStdString());
  return {};
}

void copyPicture(LineChart& chart) { QGuiApplication::clipboard()->setImage(pictureOf(chart)); }

void copyValues(const LineChart& chart) {
  QGuiApplication::clipboard()->setText(textOf(valuesOf(chart), QLatin1Char('\t')));
}

}  // namespace heddle::gui
