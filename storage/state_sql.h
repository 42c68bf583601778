// A run's state and cause as readers see them, in SQL over `runs`: the table knows preparing,
// running and how a run ended, and other tables whether it waits.
#pragma once

#define HEDDLE_STATE                                                                 \
  "CASE WHEN id IN (SELECT run FROM main.queue) THEN 'queued' "                      \
  "WHEN state = 'running' AND id IN (SELECT run FROM main.links WHERE waits <> '') " \
  "THEN 'waiting' ELSE state END"

#define HEDDLE_CAUSE \
  "coalesce((SELECT nullif(waits, '') FROM main.links WHERE links.run = id), cause)"
