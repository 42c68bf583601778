"""Whether a planned run kept to its plan, by the results of `heddle-engine train`."""


def beside_plan(results):
    """In words, how a run departed from its plan; empty if it did not. Eager runs have no plan."""
    found = []
    # Only where the device can record steps do results say whether they were replayed.
    if results.get("replayed") is False:
        found.append("its steps could not be recorded and were launched operator by operator")
    for key, words in (("outside_bytes", "allocated outside the plan"), ("misplaced_bytes", "copied to their place")):
        if results.get(key):
            found.append(f"{results[key]:,} bytes of its last step were {words}")
    return "; ".join(found)
