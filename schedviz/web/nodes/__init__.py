"""The nodes: the board of cards or cells, the filter, the table, a node's panel."""
