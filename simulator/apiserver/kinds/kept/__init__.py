"""The kinds that are kept: stored and served with their schemas' own checks and columns, without rules of
their own. ``table.py`` lists them; the other files have their columns."""
