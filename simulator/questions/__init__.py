"""Questions about a whole cluster: will this fit, how many more, where do the pods of these nodes go, which
nodes can be removed, how many are needed, and who evicted whom. Each runs on a copy of the cluster."""
