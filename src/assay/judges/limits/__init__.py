"""What holds calls to an endpoint back: a window, rates, a retry budget, a circuit breaker."""
