"""LanguageTool's protocol, so that every client written for it works with this speller."""
