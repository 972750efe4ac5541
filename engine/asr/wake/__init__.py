"""Wake phrases: check whether they are suitable, train a detector, detect them."""
