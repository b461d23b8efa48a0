"""The pages of lessons, and the panel of a lesson in its sandbox."""
