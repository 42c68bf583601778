// Questions to the planner and its answers, as plain data; the lines they travel in.
#pragma once

#include <QByteArray>
#include <QList>
#include <QMetaType>
#include <QString>
#include <QStringList>
#include <memory>
#include <optional>

#include "gui/models/prediction.h"

namespace heddle::gui {

struct PlanQuestion {
  QString recipe;    // the text
  QString file;      // its path: the recipe's own paths are relative to it, and faults name it
  QStringList sets;  // key=value
  qint64 ranks = 0;  // 0: the recipe's
  QString hardware;  // of the catalogue; empty: the recipe's
  QString executor = QStringLiteral("heddle");
  bool timeline = true;
  bool closes = false;  // also find changes that make it fit, which takes longer
};

/// A line of the recipe, and its fault.
struct PlanFault {
  int line = 0;  // 1-based; 0: none
  int column = 0;
  QString key, text, valid;
};

/// A hardware that plans can be made for.
struct HardwareEntry {
  QString name;   // as recipes write it: "h100-sxm"
  QString words;  // "H100 SXM 80 GB, 8 a node"
};

/// One of these is there.
struct PlanAnswer {
  quint64 id = 0;
  std::shared_ptr<const Prediction> prediction;
  QList<PlanFault> faults;
  std::optional<QList<HardwareEntry>> catalogue;
  QString error;
  bool cancelled = false;
};

/// A line of JSON, ended.
QByteArray questionLine(quint64 id, const QString& key, const PlanQuestion& question);
QByteArray catalogueLine(quint64 id);

/// The id of an answer's line, without reading the rest of it; 0: it has none.
quint64 answerId(const QByteArray& line);
/// Any thread. A line that is no answer becomes one with an error.
PlanAnswer readAnswer(const QByteArray& line);

}  // namespace heddle::gui

Q_DECLARE_METATYPE(heddle::gui::PlanAnswer)
