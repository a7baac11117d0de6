"""What only the page of saved audits needs."""
