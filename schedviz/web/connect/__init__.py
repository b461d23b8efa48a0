"""Connects clusters of the kubeconfig: mirrors that ``schedviz up`` keeps running."""
