"""The encoding itself: parameters, waves, tables, products. Knows no layer."""
