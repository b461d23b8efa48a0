"""The API types: the one model by which objects are read, written, merged and checked.

``model.py``: what is known of a field: Go's name and type, pointer, ``omitempty``, number in Protocol
Buffers, list type and keys, patch strategy. ``api_types.py`` makes a version's types of the data in this
folder when they are asked for; ``schema_types.py`` makes those of a custom resource of its schema. The data
come from Go's types by reflection and from the OpenAPI documents: ``python -m
tests.programs.write_api_types``.

Where speed counts, a walker compiles one function for each type (``once_per_type``).
"""
