"""What is known of a character: its sounds, its shape, and what it is confused with."""
