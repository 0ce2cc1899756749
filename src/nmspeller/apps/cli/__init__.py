"""The product's commands, one file each; `nmspeller.__main__` registers them."""
