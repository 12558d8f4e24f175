"""Reports: a verdict as a picture in a terminal, as JSON, as Markdown."""
