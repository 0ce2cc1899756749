"""From a checkpoint to the files that the product reads, and back."""
