"""Random small worlds that try to get a wrong 'free' from a certificate."""
