"""Reads, changes and writes manifests for pages: values by their paths, YAML, the Events of a pod."""
