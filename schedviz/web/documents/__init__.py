"""The documents of the project, as pages."""
