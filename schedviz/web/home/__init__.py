"""The home page, and the creation and deletion of sandboxes."""
