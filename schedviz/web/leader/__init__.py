"""The leader election, and the informer of the leader."""
