"""The kinds of dynamic resource allocation: device classes, claims and their templates, slices."""
