"""One HTML file: figures, tables, verdicts and the commands that repeat them; works offline."""
