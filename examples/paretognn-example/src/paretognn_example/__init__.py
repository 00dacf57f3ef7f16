"""One component of every kind for paretognn, found by entry point (see pyproject.toml)."""
