"""The kinds: a file or folder for each, with its strategy. ``registry.py`` lists them."""
