"""The CEL device selectors of dynamic resource allocation (dynamic-resource-allocation/cel, v1.34)."""
