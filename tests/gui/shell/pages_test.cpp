// All six pages at two sizes in both themes, with data: no text exceeds its place, and what is
// drawn has the contrast that the theme promises.
#include "gui/window/pages.h"

#include <QCheckBox>
#include <QLabel>
#include <QPushButton>
#include <QTemporaryDir>
#include <QTest>
#include <QTextDocument>
#include <algorithm>

#include "gui/theme/theme.h"
#include "gui/window/main_window.h"
#include "tests/support/sample_runs.h"
#include "tests/support/test_class.h"

using namespace heddle;
using namespace heddle::gui;

namespace {

/// The widget is inside its scroll area's or window's visible part, at least partly.
bool isSeen(const QWidget* widget) {
  return widget->isVisible() && !widget->visibleRegion().isEmpty();
}

bool isRich(const QLabel* label) {
  return label->textFormat() == Qt::RichText ||
         (label->textFormat() == Qt::AutoText && Qt::mightBeRichText(label->text()));
}

QString plain(const QLabel* label) {
  if (!isRich(label)) return label->text();
  QTextDocument document;
  document.setHtml(label->text());
  return document.toPlainText();
}

/// The place that a label's text takes when it may be `width` wide.
QSize needed(const QLabel* label, int width) {
  if (isRich(label)) {
    QTextDocument document;
    document.setDefaultFont(label->font());
    document.setDocumentMargin(0);
    document.setHtml(label->text());
    if (label->wordWrap()) document.setTextWidth(width);
    return document.size().toSize();
  }
  const int flags =
      static_cast<int>(label->alignment()) | (label->wordWrap() ? Qt::TextWordWrap : 0);
  const QRect whole =
      label->fontMetrics().boundingRect(QRect(0, 0, width, 100000), flags, label->text());
  // For a single line only the ink must fit in height.
  const bool lines = label->wordWrap() || label->text().contains(QChar('\n'));
  return {whole.width(),
          lines ? whole.height() : label->fontMetrics().tightBoundingRect(label->text()).height()};
}

/// The space that a label's text lacks; empty when it fits.
QString overflow(const QLabel* label) {
  if (label->text().isEmpty() || label->property("elides").toBool()) return {};
  const QRect room = label->contentsRect();
  const QSize size = needed(label, room.width());
  if (size.width() <= room.width() + 1 && size.height() <= room.height() + 1) return {};
  return QStringLiteral("label \"%1\" needs %2 x %3, has %4 x %5")
      .arg(plain(label).left(60))
      .arg(size.width())
      .arg(size.height())
      .arg(room.width())
      .arg(room.height());
}

QString overflow(const QAbstractButton* button) {
  if (button->text().isEmpty() || button->property("elides").toBool()) return {};
  if (const auto* tool = qobject_cast<const QToolButton*>(button);
      tool && tool->toolButtonStyle() == Qt::ToolButtonIconOnly)
    return {};
  const int needed = button->fontMetrics().size(Qt::TextShowMnemonic, button->text()).width();
  const int taken =
      button->icon().isNull() || button->objectName().startsWith(QStringLiteral("rail-"))
          ? 0
          : button->iconSize().width() + 4;
  if (needed + taken <= button->width()) return {};
  return QStringLiteral("button \"%1\" needs %2, has %3")
      .arg(button->text())
      .arg(needed + taken)
      .arg(button->width());
}

/// The text's pixels: the colour furthest from the background, which is the commonest colour.
double drawnContrast(const QLabel* label) {
  const QImage image = const_cast<QLabel*>(label)
                           ->window()
                           ->grab(QRect(label->mapTo(label->window(), QPoint(0, 0)), label->size()))
                           .toImage();
  QHash<QRgb, int> counts;
  for (int y = 0; y < image.height(); ++y)
    for (int x = 0; x < image.width(); ++x) ++counts[image.pixel(x, y) | 0xff000000u];
  QRgb background = 0;
  for (auto found = counts.cbegin(); found != counts.cend(); ++found)
    if (found.value() > counts.value(background)) background = found.key();
  double best = 1;
  for (const QRgb color : counts.keys())
    best = std::max(best, contrast(QColor::fromRgb(color), QColor::fromRgb(background)));
  return best;
}

}  // namespace

class PagesTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void initTestCase() {
    qputenv("XDG_CONFIG_HOME", store_.folder.filePath(QStringLiteral("config")).toUtf8());
    qputenv("HOME", store_.folder.path().toUtf8());
    Theme::install(Theme::Mode::dark);
  }

  void textFitsAndIsReadable_data() {
    QTest::addColumn<QString>("page");
    QTest::addColumn<QSize>("size");
    QTest::addColumn<int>("mode");
    for (const PageEntry& page : pages())
      for (const QSize size : {QSize(1600, 1000), QSize(1100, 700)})
        for (const auto mode : {Theme::Mode::dark, Theme::Mode::light})
          QTest::addRow("%s %d %s", page.name, size.width(),
                        mode == Theme::Mode::dark ? "dark" : "light")
              << QString::fromLatin1(page.name) << size << static_cast<int>(mode);
  }

  void textFitsAndIsReadable() {
    QFETCH(QString, page);
    QFETCH(QSize, size);
    QFETCH(int, mode);
    Theme::instance().setMode(static_cast<Theme::Mode>(mode));
    Session session(store_.path());
    MainWindow window(session);
    window.resize(size);
    window.show();
    window.showPage(page);
    if (page == QStringLiteral("compare"))
      window.currentPage()->showRuns({store_.runs.unwrapped, store_.runs.whole});
    else
      window.currentPage()->showRun(store_.runs.whole);
    QTRY_VERIFY_WITH_TIMEOUT(window.isReady(), 30000);
    QTest::qWait(100);
    QTRY_VERIFY_WITH_TIMEOUT(window.isReady(), 30000);
    QCOMPARE(window.size(), size);

    QStringList faults;
    for (const QLabel* label : window.findChildren<QLabel*>()) {
      if (!isSeen(label)) continue;
      faults << overflow(label);
      const bool whole = label->visibleRegion().boundingRect().size() == label->size();
      if (whole && label->isEnabled() && !plain(label).trimmed().isEmpty() &&
          label->pixmap().isNull())
        if (const double found = drawnContrast(label); found < 4.5)
          faults << QStringLiteral("label \"%1\" is drawn with a contrast of %2")
                        .arg(plain(label).left(60))
                        .arg(found);
    }
    for (const QAbstractButton* button : window.findChildren<QAbstractButton*>())
      if (isSeen(button)) faults << overflow(button);
    faults.removeAll(QString());
    QVERIFY2(faults.isEmpty(), qPrintable(faults.join(QChar('\n'))));
  }

 private:
  samples::SampleStore store_;
};

HEDDLE_WIDGET_TEST(PagesTest)
#include "pages_test.moc"
