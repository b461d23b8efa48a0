"""The effects of a CustomResourceDefinition's schema on its objects: unknown fields are dropped, defaults are
set, and values are validated.

Upstream: apiextensions-apiserver/pkg/apiserver/schema (pruning, defaulting) and validation."""
