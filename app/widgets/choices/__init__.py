"""Controls of what audits are run on: groups, roles, options, and what stands in for what is lacking."""
