"""Text without a model: vocabulary, windows, protected spans, script."""
