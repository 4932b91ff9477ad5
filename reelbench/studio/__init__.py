"""What makes and examines a data set, one module for each move, whichever paper it comes from."""
