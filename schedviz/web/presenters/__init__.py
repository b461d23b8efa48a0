"""The view model: what the screens show, as small values. It renders nothing and reads no store."""
