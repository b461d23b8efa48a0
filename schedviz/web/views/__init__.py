"""The Django views of the pages."""
