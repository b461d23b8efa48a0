"""The versions of Kubernetes that are modelled: what differs between them, and their feature gates."""
