"""What the pages show of pod groups: the panel of a group, and the cycle of a group."""
