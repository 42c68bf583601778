// The small widgets that every page is made of. All follow the theme by themselves.
#pragma once

#include <QFrame>
#include <QLabel>
#include <QPushButton>
#include <QToolButton>
#include <QVBoxLayout>

#include "gui/theme/icons.h"

namespace heddle::gui {

// Labels. Roles are defined in heddle.qss.
QLabel* label(const QString& text, const char* role = "");
QLabel* heading(const QString& text);  // 16, semibold: a card's title
QLabel* section(const QString& text);  // 13, semibold
QLabel* muted(const QString& text);
QLabel* caption(const QString& text);  // 11, muted
QLabel* mono(const QString& text);     // numbers and names
/// The muted name in front of a field, as wide as its column.
QLabel* fieldLabel(const QString& text, QWidget* buddy = nullptr);

/// Changes the property "role" or "tone" of a widget and applies its style again.
void setRole(QWidget* widget, const char* role);
void setTone(QWidget* widget, const char* tone);  // "good", "warn", "bad", "muted" or ""

// Buttons.
QPushButton* primaryButton(const QString& text, const QString& iconName = {});
QPushButton* quietButton(const QString& text, const QString& iconName = {});
QPushButton* dangerButton(const QString& text, const QString& iconName = {});
QPushButton* linkButton(const QString& text);
/// A 28 px square with an icon; `tip` is its tooltip and accessible name.
QToolButton* iconButton(const QString& iconName, const QString& tip);

/// Empties a layout. Its widgets are hidden now and deleted later: one may be who asked.
void clear(QLayout* layout);

/// One pixel, horizontal or vertical.
QFrame* line(Qt::Orientation orientation = Qt::Horizontal);

/// A label that elides its text in the middle or at the end when there is no room; the whole text
/// is its tooltip.
class ElidedLabel : public QLabel {
  Q_OBJECT

 public:
  explicit ElidedLabel(const QString& text = {}, const char* role = "",
                       Qt::TextElideMode mode = Qt::ElideRight);
  void setFullText(const QString& text);
  QString fullText() const { return full_; }
  QSize minimumSizeHint() const override;
  QSize sizeHint() const override;

 protected:
  void paintEvent(QPaintEvent* event) override;

 private:
  QString full_;
  Qt::TextElideMode mode_;
};

/// An icon of `size` px, in its tone of whatever theme is in use.
class Symbol : public QWidget {
  Q_OBJECT

 public:
  explicit Symbol(int size, const QString& iconName = {}, Tone tone = Tone::text);
  void set(const QString& iconName, Tone tone);
  QSize sizeHint() const override { return {size_, size_}; }

 protected:
  void paintEvent(QPaintEvent*) override;

 private:
  int size_;
  QString name_;
  Tone tone_;
};

/// A coloured dot of 8 px: a state at a glance, always next to its word.
class StatusDot : public QWidget {
  Q_OBJECT

 public:
  explicit StatusDot(Tone tone = Tone::muted, bool filled = true, QWidget* parent = nullptr);
  void set(Tone tone, bool filled = true);
  QSize sizeHint() const override { return {10, 16}; }
  QSize minimumSizeHint() const override { return sizeHint(); }

 protected:
  void paintEvent(QPaintEvent*) override;

 private:
  Tone tone_;
  bool filled_;
};

/// A small rounded tag of 20 px.
class Chip : public QLabel {
  Q_OBJECT

 public:
  explicit Chip(const QString& text, Tone tone = Tone::text, QWidget* parent = nullptr);
  void setTone(Tone tone);

 protected:
  void paintEvent(QPaintEvent* event) override;

 private:
  Tone tone_;
};

}  // namespace heddle::gui
