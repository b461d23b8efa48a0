"""Validation of CustomResourceDefinitions: a module for each part of them."""
