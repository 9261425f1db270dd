"""Relations and ratings: data that are neither documents nor records, a file per kind."""
