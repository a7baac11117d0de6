"""Results drawn as Plotly figures; nothing statistical is computed here."""
