"""Documents as people keep them: where their prose is, how they are encoded and written back."""
