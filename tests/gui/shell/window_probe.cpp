// A Qt plug-in that looks into a `heddle` started by another process, and writes what its window
// shows to a file, as one line. In the first window it drops a store and presses "Open in a new
// window", or opens one with "Open another store …".
#include <QAction>
#include <QApplication>
#include <QDropEvent>
#include <QFile>
#include <QFileDialog>
#include <QGenericPlugin>
#include <QLineEdit>
#include <QMimeData>
#include <QPushButton>
#include <QTableView>
#include <QTimer>
#include <QUrl>

namespace {

constexpr int kLookMilliseconds = 100;

class WindowProbe : public QObject {
 public:
  explicit WindowProbe(const QString& folder) : folder_(folder) {
    connect(&timer_, &QTimer::timeout, this, &WindowProbe::look);
    timer_.start(kLookMilliseconds);
  }

 private:
  void look() {
    if (QFile::exists(folder_ + "/quit")) return QApplication::quit();
    if (auto* dialog = qobject_cast<QFileDialog*>(QApplication::activeModalWidget()))
      return answer(*dialog);
    for (QWidget* window : QApplication::topLevelWidgets())
      if (window->inherits("heddle::gui::MainWindow") && window->isVisible()) report(*window);
  }

  void report(QWidget& window) {
    if (auto* runs = window.findChild<QAction*>("runs"); runs && !runs->isChecked())
      return runs->trigger();
    const auto* table = window.findChild<QTableView*>("runs");
    const auto* readOnly = window.findChild<QPushButton*>("readOnly");
    if (!table || !readOnly || table->model()->rowCount() == 0) return;
    const QString store = QApplication::arguments().value(2);
    QStringList names;
    for (int row = 0; row < table->model()->rowCount(); ++row)
      for (int column = 0; column < table->model()->columnCount(); ++column)
        if (table->model()->headerData(column, Qt::Horizontal).toString() == "name")
          names << table->model()->index(row, column).data().toString();
    QFile file(folder_ + "/" + QString::number(QApplication::applicationPid()));
    if (file.open(QIODevice::WriteOnly))
      file.write((store + '\n' + (readOnly->isVisible() ? readOnly->text() : "writes") + '\n' +
                  names.join(',') + '\n')
                     .toUtf8());
    if (qEnvironmentVariableIsSet("HEDDLE_PROBE_OPEN"))
      open(window, store);
    else
      dropOn(window, store);
  }

  void open(const QWidget& window, const QString& store) {
    if (opened_ || qEnvironmentVariable("HEDDLE_PROBE_OPEN") == store) return;
    opened_ = true;
    // It blocks until the dialog is answered, which this timer does.
    QMetaObject::invokeMethod(window.findChild<QAction*>("openAnotherStore"), "trigger",
                              Qt::QueuedConnection);
  }

  void answer(QFileDialog& dialog) {
    auto* name = dialog.findChild<QLineEdit*>("fileNameEdit");
    const QString file = qEnvironmentVariable("HEDDLE_PROBE_OPEN");
    if (name->text() != file) return name->setText(file);
    for (auto* button : dialog.findChildren<QPushButton*>())
      if (button->isDefault() && button->isEnabled()) return button->click();
  }

  void dropOn(QWidget& window, const QString& store) {
    const QString other = qEnvironmentVariable("HEDDLE_PROBE_DROP");
    if (other == store) return;
    if (auto* open = window.findChild<QPushButton*>("openStore"); open && !opened_) {
      opened_ = true;
      return open->click();
    }
    if (dropped_) return;
    dropped_ = true;
    QMimeData data;
    data.setUrls({QUrl::fromLocalFile(other)});
    QDragEnterEvent enter(QPoint(300, 300), Qt::CopyAction, &data, Qt::LeftButton, {});
    QCoreApplication::sendEvent(&window, &enter);
    QDropEvent drop(QPointF(300, 300), Qt::CopyAction, &data, Qt::LeftButton, {});
    QCoreApplication::sendEvent(&window, &drop);
  }

  QString folder_;
  QTimer timer_;
  bool dropped_ = false, opened_ = false;
};

}  // namespace

class WindowProbePlugin : public QGenericPlugin {
  Q_OBJECT
  // The literal of QGenericPluginFactoryInterface_iid: the build's moc reads no header.
  Q_PLUGIN_METADATA(IID "org.qt-project.Qt.QGenericPluginFactoryInterface" FILE "window_probe.json")

 public:
  QObject* create(const QString&, const QString&) override {
    return new WindowProbe(qEnvironmentVariable("HEDDLE_PROBE"));
  }
};

#include "window_probe.moc"
