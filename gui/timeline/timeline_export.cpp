#include "gui/timeline/timeline_export.h"

#include <QPainter>
#include <QSvgGenerator>
#include <fstream>

#include "base/new_file.h"
#include "gui/timeline/timeline_widget.h"
#include "storage/chrome_trace.h"

namespace heddle::gui {

Result<> writeTrace(const std::vector<TimelineRow>& rows, const QString& path) {
  constexpr mode_t kForOthersToo = 0666;  // less the umask: it is made to be handed on
  Result<NewFile> made = NewFile::create(path.toStdString(), kForOthersToo);
  if (!made) return fail(made);
  std::ofstream file(made->part(), std::ios::binary);
  storage::ChromeTrace trace(file);
  for (size_t row = 0; row < rows.size(); ++row) {
    if (!rows[row].timeline) continue;
    const auto process = static_cast<int64_t>(row);
    trace.add_process(process, rows[row].title.toStdString());
    for (const Stream stream : {Stream::compute, Stream::communication})
      for (const telemetry::Span& span : rows[row].timeline->lane(stream).spans())
        trace.add(process, span, 0, static_cast<double>(rows[row].shiftUs));
  }
  trace.end();
  file.close();
  if (!file)
    return fail("{}: cannot write: check the disk's space and the folder's permissions",
                path.toStdString());
  return made->take_place();
}

Result<> writePicture(TimelineWidget& timeline, const QString& path) {
  if (path.endsWith(QLatin1String(".svg"), Qt::CaseInsensitive)) {
    QSvgGenerator svg;
    svg.setFileName(path);
    svg.setSize(timeline.size());
    svg.setViewBox(QRect({0, 0}, timeline.size()));
    svg.setTitle(timeline.accessibleName());
    QPainter painter;
    if (!painter.begin(&svg))
      return fail("{}: cannot write: check the folder's permissions", path.toStdString());
    timeline.paintPicture(painter);
    return {};
  }
  if (!timeline.grab().save(path, "PNG"))
    return fail("{}: cannot write: check the disk's space and the folder's permissions",
                path.toStdString());
  return {};
}

}  // namespace heddle::gui
