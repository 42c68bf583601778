#include "gui/charts/chart_menu.h"

#include <QCoreApplication>

#include "gui/charts/chart_export.h"
#include "gui/charts/chart_values.h"
#include "gui/charts/line_chart.h"
#include "gui/format.h"
#include "gui/widgets/file_dialog.h"
#include "gui/widgets/text_table.h"

namespace heddle::gui {
namespace {

using Say = std::function<void(const QString&, Tone)>;

struct ChartMenuWords {
  Q_DECLARE_TR_FUNCTIONS(ChartMenu)
};

void saveAs(LineChart& chart, const QString& name, const QString& ending, const Say& say) {
  const QString small = QLatin1Char('.') + ending.toLower();
  const QString start = FileDialog::lastFolder() + QLatin1Char('/') +
                        QString(name).replace(QLatin1Char('/'), QLatin1Char('_')) + small;
  QString file =
      FileDialog::fileToSave(chart.window(), ChartMenuWords::tr("Save %1").arg(titleOf(chart)),
                             start, ending + QStringLiteral(" (*") + small + QLatin1Char(')'));
  if (file.isEmpty()) return;
  if (!file.endsWith(small, Qt::CaseInsensitive)) file += small;
  const Result<> saved = saveChart(chart, file);
  say(saved ? ChartMenuWords::tr("Saved %1").arg(file)
            : QString::fromStdString(saved.error().message),
      saved ? Tone::good : Tone::bad);
}

/// Shows the values of this moment; they do not change while the table is open.
void openTable(const LineChart& chart) {
  ChartValues values = valuesOf(chart);
  QStringList heads{values.xName};
  for (const ChartValues::Curve& curve : values.curves) heads << curve.name;
  QStringList places;
  for (const double x : values.x) places << chart.placeText(x);
  const QString text = textOf(values, QLatin1Char('\t'));
  const size_t rows = values.x.size();
  const auto cell = [places, values = std::move(values), unit = chart.unit()](size_t row,
                                                                              size_t column) {
    if (column == 0) return places[static_cast<qsizetype>(row)];
    const std::optional<double>& value = values.curves[column - 1].values[row];
    return value ? format::withUnit(unit, *value) : QString();
  };
  const QString note = ChartMenuWords::tr("%1 in the range that is shown")
                           .arg(format::plural(static_cast<qint64>(rows), counted::kRow));
  auto* dialog = new TableDialog(titleOf(chart), new TextTableModel(heads, rows, cell), note, text,
                                 chart.window());
  dialog->open();
}

}  // namespace

void addChartExports(QMenu& menu, LineChart& chart, const QString& file, const Say& say) {
  menu.addAction(ChartMenuWords::tr("Table of values …"), &chart, [&chart] { openTable(chart); });
  menu.addSeparator();
  menu.addAction(ChartMenuWords::tr("Copy picture"), &chart, [&chart, say] {
    copyPicture(chart);
    say(ChartMenuWords::tr("The picture was copied"), Tone::good);
  });
  menu.addAction(ChartMenuWords::tr("Copy values"), &chart, [&chart, say] {
    copyValues(chart);
    say(ChartMenuWords::tr("The values were copied"), Tone::good);
  });
  for (const QString& ending :
       {QStringLiteral("PNG"), QStringLiteral("SVG"), QStringLiteral("CSV")})
    menu.addAction(ChartMenuWords::tr("Save as %1 …").arg(ending), &chart,
                   [&chart, file, ending, say] { saveAs(chart, file, ending, say); });
}

}  // namespace heddle::gui
