// A sample's text as the model sees it: its documents with a mark between them.
#pragma once

#include <QPlainTextEdit>
#include <QStringList>

#include "engine/data/description.h"

namespace heddle::gui {

class SampleText : public QPlainTextEdit {
  Q_OBJECT

 public:
  explicit SampleText(QWidget* parent = nullptr);
  void setSample(const data::DescribedSample& sample);
  /// Lines that say where another document begins.
  const QList<int>& marks() const { return marks_; }
  /// Four lines; it takes what more room there is.
  QSize sizeHint() const override { return {240, kHeight}; }
  QSize minimumSizeHint() const override { return {120, kHeight}; }

 private:
  static constexpr int kHeight = 84;

  void paintMarks();

  QList<int> marks_;  // numbers of blocks
};

}  // namespace heddle::gui
