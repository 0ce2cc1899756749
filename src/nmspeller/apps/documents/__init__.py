"""Documents in many formats: finding their prose, decoding them and writing them back."""
