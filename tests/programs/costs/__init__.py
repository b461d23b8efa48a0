"""What one request may cost: objects whose lists and maps grow, and the requests that contain them.

``tests/apiserver/test_cost.py`` asserts for a sample that the work of a request grows no faster than the
request. ``make fuzz PART=cost`` does so for all, and measures seconds and memory.
"""
