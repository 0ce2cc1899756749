"""The speller in editors: a language server over standard input and output."""
