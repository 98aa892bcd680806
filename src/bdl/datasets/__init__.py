"""Event times from long recordings."""
