"""The panel of a pod with its history, and the questions that are asked in it."""
