"""Predict, then reveal: what is asked before each decision, whether a guess was right, and what kind of slip
a wrong one was. What is asked has not been decided yet: time stands still, and the step that decides is taken
only when a guess is in, or when a presenter reveals."""
