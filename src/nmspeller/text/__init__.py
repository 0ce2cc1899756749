"""Characters and nothing more: vocabulary, windows, protected spans, script."""
