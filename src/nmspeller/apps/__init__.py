"""The front doors: command line, HTTP, LanguageTool's protocol, editors, batch."""
