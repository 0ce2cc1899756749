"""The laboratory: everything that makes and measures a model; `nmspeller lab` is its door."""
