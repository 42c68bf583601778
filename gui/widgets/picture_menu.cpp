#include "gui/widgets/picture_menu.h"

#include <QClipboard>
#include <QGuiApplication>
#include <QMenu>
#include <QSaveFile>

#include "gui/format.h"
#include "gui/widgets/file_dialog.h"
#include "gui/widgets/toast.h"

namespace heddle::gui {
namespace {

struct PictureWords {
  Q_DECLARE_TR_FUNCTIONS(PictureMenu)
};

void savePicture(QWidget* picture, const TextTable& table, const QString& ending) {
  QString start = table.title;
  start.replace(QLatin1Char('/'), QLatin1Char('_'));
  QString file =
      FileDialog::fileToSave(picture->window(), PictureWords::tr("Save %1").arg(table.title),
                             FileDialog::lastFolder() + QLatin1Char('/') + start + ending,
                             QStringLiteral("%1 (*%2)").arg(ending.mid(1).toUpper(), ending));
  if (file.isEmpty()) return;
  if (!file.endsWith(ending, Qt::CaseInsensitive)) file += ending;
  QSaveFile out(file);
  const bool saved = out.open(QIODevice::WriteOnly) &&
                     (ending == QLatin1String(".png")
                          ? picture->grab().save(&out, "PNG")
                          : out.write(textOf(table, QLatin1Char(',')).toUtf8()) >= 0) &&
                     out.commit();
  showToast(picture,
            saved ? PictureWords::tr("Saved %1").arg(file)
                  : QStringLiteral("%1: %2").arg(file, out.errorString()),
            saved ? Tone::good : Tone::bad);
}

void openPictureMenu(QWidget* picture, const TableOf& tableOf, const QPoint& at) {
  auto* menu = new QMenu(picture);
  menu->setAttribute(Qt::WA_DeleteOnClose);
  menu->addAction(PictureWords::tr("Table of values …"), picture, [picture, tableOf] {
    const TextTable table = tableOf();
    const auto rows = static_cast<qint64>(table.rows.size());
    const auto cell = [rows = table.rows](size_t row, size_t column) {
      return rows[row].value(static_cast<qsizetype>(column));
    };
    auto* model = new TextTableModel(table.heads, table.rows.size(), cell);
    auto* dialog = new TableDialog(table.title, model, format::plural(rows, counted::kRow),
                                   textOf(table, QLatin1Char('\t')), picture->window());
    dialog->open();
  });
  menu->addSeparator();
  menu->addAction(PictureWords::tr("Copy picture"), picture, [picture] {
    QGuiApplication::clipboard()->setPixmap(picture->grab());
    showToast(picture, PictureWords::tr("The picture was copied"), Tone::good);
  });
  menu->addAction(PictureWords::tr("Copy values"), picture, [picture, tableOf] {
    QGuiApplication::clipboard()->setText(textOf(tableOf(), QLatin1Char('\t')));
    showToast(picture, PictureWords::tr("The values were copied"), Tone::good);
  });
  for (const QString& ending : {QStringLiteral(".png"), QStringLiteral(".csv")})
    menu->addAction(PictureWords::tr("Save as %1 …").arg(ending.mid(1).toUpper()), picture,
                    [picture, tableOf, ending] { savePicture(picture, tableOf(), ending); });
  menu->popup(at);
}

}  // namespace

void setPictureMenu(QWidget* picture, const TableOf& table) {
  picture->setContextMenuPolicy(Qt::CustomContextMenu);
  QObject::connect(picture, &QWidget::customContextMenuRequested, picture,
                   [picture, table](const QPoint& at) {
                     openPictureMenu(picture, table, picture->mapToGlobal(at));
                   });
}

QToolButton* pictureButton(QWidget* picture, const QString& name, const TableOf& table) {
  setPictureMenu(picture, table);
  QToolButton* button = iconButton(QStringLiteral("more"), name);
  QObject::connect(button, &QToolButton::clicked, picture, [picture, table, button] {
    openPictureMenu(picture, table, button->mapToGlobal(QPoint(0, button->height())));
  });
  return button;
}

}  // namespace heddle::gui
