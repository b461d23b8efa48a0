"""Tests of the questions about a whole cluster (simulator/questions)."""
