"""The kubectl commands for the actions of the page, and the output that kubectl would print for its
objects."""
