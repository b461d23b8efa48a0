"""Import and export of clusters as files: dumps of real clusters, recordings and exports, without sensitive
data."""
