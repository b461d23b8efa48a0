"""The kinds that make pods of a template."""
