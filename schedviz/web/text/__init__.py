"""Numbers, times, amounts, names and links, as all pages write them."""
