"""Limits: what one sandbox, one owner, one address and all together may use at a time.

The limits of requests, questions, watches and websockets count in each web process by itself, as a count in
Redis would need a round trip for each request.
"""
