// One number that matters, with its unit, a line of context and the shape of its series.
#pragma once

#include <QFrame>

#include "gui/widgets/basics.h"
#include "gui/widgets/sparkline.h"

namespace heddle::gui {

class Tile : public QFrame {
  Q_OBJECT

 public:
  explicit Tile(const QString& name, QWidget* parent = nullptr);

  /// Value and unit apart, as in ("6,305", "tok/s a rank"); or one text as `format` makes it.
  void setValue(const QString& value, const QString& unit = {});
  void setNote(const QString& note);
  void setSeries(QVector<double> values);
  /// Tone of the value, with a warning sign for warn and bad.
  void setTone(Tone tone);
  /// A figure that is no longer known to hold: grey, whatever its tone.
  void setStale(bool stale);
  bool isStale() const { return stale_; }
  QString value() const;
  QString unit() const;
  QString note() const { return note_->fullText(); }

 private:
  void showTone();

  Tone tone_ = Tone::text;
  bool stale_ = false;
  QLabel* value_;
  ElidedLabel* unit_;
  ElidedLabel* note_;
  QLabel* sign_;
  Sparkline* sparkline_;
};

}  // namespace heddle::gui
