"""The panels of all stored objects, and changes of objects that pages and commands make."""
