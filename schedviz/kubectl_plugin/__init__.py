"""``kubectl schedviz``: answers about a real cluster, which is read once. No server is needed."""
