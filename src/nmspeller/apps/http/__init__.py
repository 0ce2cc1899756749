"""The speller behind HTTP: its own protocol, LanguageTool's, and the page that people write in."""
