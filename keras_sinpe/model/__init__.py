"""Any Keras model: its signature, its samples, its rebuild; no layer of ours."""
