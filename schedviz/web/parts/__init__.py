"""Parts of pages, which are drawn when they change, and the pages of a hub in all languages."""
