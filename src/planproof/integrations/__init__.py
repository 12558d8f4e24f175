"""planproof where people already are: each module imports its host only when it is used."""
