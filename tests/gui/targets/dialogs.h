// How a person acts in the dialogs of the Targets page.
#pragma once

#include <QApplication>
#include <QLineEdit>
#include <QPushButton>
#include <QTest>
#include <QTimer>

namespace heddle::test {

/// Calls `use` with the next modal dialog of that class, as soon as there is one.
template <typename Dialog, typename Use>
void whenOpen(QObject* context, Use use) {
  auto* timer = new QTimer(context);
  QObject::connect(timer, &QTimer::timeout, context, [timer, use] {
    auto* dialog = qobject_cast<Dialog*>(QApplication::activeModalWidget());
    if (!dialog) return;
    timer->deleteLater();
    use(dialog);
  });
  timer->start(20);
}

inline void type(QWidget* dialog, const char* field, const QString& text) {
  auto* line = dialog->findChild<QLineEdit*>(QLatin1String(field));
  line->clear();
  QTest::keyClicks(line, text);
}

inline void press(QWidget* dialog, const char* button) {
  QTest::mouseClick(dialog->findChild<QPushButton*>(QLatin1String(button)), Qt::LeftButton);
}

}  // namespace heddle::test
