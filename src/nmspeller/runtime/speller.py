"""Speller: text in, edits out."""
