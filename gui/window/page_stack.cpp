#include "gui/window/page_stack.h"

#include "gui/window/pages.h"

namespace heddle::gui {

PageStack::PageStack(Session& session, QWidget* parent)
    : QStackedWidget(parent), session_(session) {}

Page* PageStack::page(const QString& name) {
  if (Page* found = made_.value(name)) return found;
  for (const PageEntry& entry : pages())
    if (name == QLatin1String(entry.name)) return make(entry);
  return nullptr;
}

QList<Page*> PageStack::all() {
  QList<Page*> all;
  for (const PageEntry& entry : pages()) all.append(page(QLatin1String(entry.name)));
  return all;
}

/// With the stack as its parent: a tree of widgets that changes its parent is styled again as a
/// whole.
Page* PageStack::make(const PageEntry& entry) {
  Page* page = entry.make(session_, this);
  page->setEntry(entry);
  addWidget(page);
  made_.insert(page->name(), page);
  if (keeping_) restore(page);
  Q_EMIT made(page);
  return page;
}

void PageStack::restore(const QJsonObject& state) {
  last_ = state;
  keeping_ = true;
  for (Page* page : made_) restore(page);
}

void PageStack::restore(Page* page) {
  page->restoreState(last_[page->name()].toObject());
  page->keepLayout();
}

QJsonObject PageStack::keptState() const {
  QJsonObject state;
  for (const PageEntry& entry : pages()) {
    const QString name = QLatin1String(entry.name);
    const Page* page = made_.value(name);
    state[name] = page != nullptr ? page->keptState() : last_[name];
  }
  return state;
}

}  // namespace heddle::gui
