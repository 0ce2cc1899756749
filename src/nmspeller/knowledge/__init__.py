"""Facts about characters: pronunciation, shape, and the characters they are confused with."""
