"""One short page an audit."""
