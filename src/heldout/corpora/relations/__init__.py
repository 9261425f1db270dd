"""Relations beside documents: graphs and tensors of true and false cells, their formats, and their form as a corpus."""
