"""How a speller learns: pretraining, fine-tuning, and the experiments made of them."""
