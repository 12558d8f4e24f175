"""HTML reports: self-contained pages that load nothing from the network."""
