"""`nmspeller check --review`: the user decides on one finding after another."""
