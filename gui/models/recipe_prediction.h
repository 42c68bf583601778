// The prediction of the recipe being composed: requested after every edit, kept while the recipe
// has faults, compared with a pinned one. No widgets. GUI thread only.
#pragma once

#include <QObject>
#include <QString>
#include <memory>
#include <optional>
#include <vector>

#include "gui/models/plan_client.h"
#include "gui/models/planned_recipe.h"
#include "gui/models/recipe_document.h"

namespace heddle::gui {

class RecipePrediction : public QObject {
  Q_OBJECT

 public:
  RecipePrediction(RecipeDocument& document, PlanClient& client, QObject* parent = nullptr);

  /// From now on edits are predicted. Before that nothing is started.
  void start();

  const RecipeDocument& document() const { return document_; }
  const std::vector<plan::HardwareEntry>& catalogue() const { return client_.catalogue(); }
  /// The last one that could be made of this recipe; none at first.
  const std::shared_ptr<const Prediction>& shown() const { return shown_.prediction; }
  /// The recipe that `shown` is of, which need not be what the document says now.
  const recipe::Recipe& shownRecipe() const { return shown_.recipe; }
  /// How far `shown` is from fitting, and changes that would close the gap; none until that is
  /// known, and for a recipe that has been edited since.
  const std::optional<plan::Shortfall>& shortfall() const { return shortfall_; }
  bool looksForWhatCloses() const { return closing_; }
  /// Why `shown` is not what the recipe says now: a fault of it, or the planner's. Empty: it is,
  /// or will be as soon as it has been planned.
  const QString& staleReason() const { return staleReason_; }
  bool isStale() const { return shown() && !staleReason_.isEmpty(); }
  /// The planner's latest trouble; empty: none.
  const QString& trouble() const { return client_.trouble(); }
  bool isPlanning() const { return client_.isBusy(); }
  /// Whether what is shown is of an earlier text, and the answer for this one is under way.
  bool isBehind() const { return behind_; }

  /// The executors whose steps can be predicted. Other names are ignored.
  static const QStringList& executors();
  const QString& executor() const { return executor_; }
  void setExecutor(const QString& executor);

  /// The planner's question for another text than the document's, for the same executor.
  plan::PlanQuestion questionOf(const QString& text) const;
  PlanClient& client() const { return client_; }

  /// From now on numbers show their difference to the current prediction.
  void pin();
  void unpin();
  const std::shared_ptr<const Prediction>& pinned() const { return pinned_.prediction; }
  /// The name of its recipe: "debug, edited".
  const QString& pinnedName() const { return pinned_.name; }
  /// Whether something else is shown than what is pinned.
  bool hasTwo() const { return pinned() && shown() && pinned() != shown(); }
  /// The pinned and the shown prediction, each with its recipe, under names that differ.
  std::vector<PlannedRecipe> two() const;

  /// By which of the document's conventions FLOPs are counted.
  size_t convention() const { return convention_; }
  void nextConvention();

 Q_SIGNALS:
  /// Anything of the above.
  void changed();
  void executorChanged();

 private:
  void ask();
  void take(const std::shared_ptr<const Prediction>& prediction);
  void askWhatCloses();
  void setRefused(const QString& why);
  void setAnswered(const QString& staleReason);

  RecipeDocument& document_;
  PlanClient& client_;
  bool started_ = false;
  bool behind_ = false;
  bool closing_ = false;  // the last question was for changes that close the shortfall
  QString executor_ = executors().first();
  PlannedRecipe shown_, pinned_;
  std::optional<plan::Shortfall> shortfall_;
  QString shownOf_;  // which recipe, by name and file
  QString staleReason_;
  size_t convention_ = 0;
};

}  // namespace heddle::gui
