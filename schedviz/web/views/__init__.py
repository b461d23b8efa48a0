"""What answers the pages' requests."""
