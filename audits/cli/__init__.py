"""The command line's commands, one module each; heavy imports only where a command needs them."""
