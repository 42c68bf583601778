// A step's graph as a text that `train --graph` reads: it states what it was made from, and trains
// nothing else.
#pragma once

#include <map>
#include <string>

#include "base/result.h"
#include "engine/graph/ir.h"
#include "engine/recipe/recipe.h"

namespace heddle::step {

/// The graph's note of the last pass that ran; "capture" for a captured step.
inline constexpr const char* kAfter = "after";

/// The notes by which a graph states what it was made from: keys of the recipe and their values.
/// `recipe` is resolved and has a vocabulary size.
std::map<std::string, std::string> made_from(const recipe::Recipe& recipe);

/// The part that the captured step was made from, as one text: recipes that share it share their
/// captured step.
std::string captured_from(const recipe::Recipe& recipe);

/// The last pass that ran on the graph.
std::string last_pass_of(const graph::Graph& graph);

/// Reads the text of a step to train the recipe by. It may stand after any pass (with a pipeline
/// after recompute at most: later ones give each rank a step of its own), and may have been edited,
/// but it must read, keep and give what the recipe's step does. Errors are a line a contradiction:
/// `FILE:LINE: key: the graph says …, the recipe …; valid: …`.
Result<graph::Graph> read_graph_file(const std::string& path, const recipe::Recipe& recipe);

}  // namespace heddle::step
