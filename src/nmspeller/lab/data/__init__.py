"""Pairs of wrong and right sentences: reading, making, counting, preparing."""
