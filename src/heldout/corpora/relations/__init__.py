"""Relations as data: graphs and tensors of true and false cells, and ratings; a file per format or kind."""
