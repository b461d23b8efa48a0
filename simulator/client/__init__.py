"""The parts that the scheduler and the controllers share, as client-go is shared: informer, event recorder,
writes."""
