"""The pages of the ideas of schedulers."""
