"""`nmspeller review`: the user decides on one finding after another."""
