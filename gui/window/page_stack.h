// The window's pages, one shown at a time. A page is made when it is first needed: most of a start
// would go into pages that nobody looks at. GUI thread only.
#pragma once

#include <QHash>
#include <QJsonObject>
#include <QStackedWidget>

#include "gui/page.h"

namespace heddle::gui {

class PageStack : public QStackedWidget {
  Q_OBJECT

 public:
  explicit PageStack(Session& session, QWidget* parent = nullptr);

  /// Makes it where it is not there yet. Null: no page has the name.
  Page* page(const QString& name);
  Page* current() const { return static_cast<Page*>(currentWidget()); }
  /// In the order of the list. Makes those that are not there yet.
  QList<Page*> all();

  /// Takes the last session's state, by page name. Each page restores its state and layout, a later
  /// one when it is made, and keeps its layout from then on.
  void restore(const QJsonObject& state);
  /// The same of now.
  QJsonObject keptState() const;

 Q_SIGNALS:
  void made(heddle::gui::Page* page);

 private:
  Page* make(const PageEntry& entry);
  void restore(Page* page);

  Session& session_;
  QHash<QString, Page*> made_;
  QJsonObject last_;
  bool keeping_ = false;
};

}  // namespace heddle::gui
