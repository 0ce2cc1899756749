"""The applications: command line, HTTP, LanguageTool's protocol, language server, batch."""
