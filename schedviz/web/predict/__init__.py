"""Prediction mode: asks the viewer before each decision, grades the guess, and explains a wrong one.

The decision has not been made when the question is asked: the sandbox is paused, and the deciding step is
taken only after a guess, or when a presenter reveals the answer."""
