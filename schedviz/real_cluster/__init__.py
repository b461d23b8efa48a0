"""Reads a real cluster: its kubeconfig, requests that only read, and lists of what the scheduler reads."""
