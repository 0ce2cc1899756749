"""How good a speller is: metrics, significance, suites, tables and plots."""
