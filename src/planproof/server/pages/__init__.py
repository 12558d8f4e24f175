"""Web pages: runs, their cases, comparison of two runs, live traces, and a form to try a case."""
