"""Who is measured, by which models, and how far a prediction leans on protected status."""
