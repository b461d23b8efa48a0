"""A scheduling cycle: its panel, its play, why a node was chosen, preemption."""
