"""The arena: matches and tournaments between engines, on top of the client."""
