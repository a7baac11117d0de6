"""The bundled example sets, made: generators with a known truth, one module a set."""
