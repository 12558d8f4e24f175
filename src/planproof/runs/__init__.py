"""Many cases: data sets, engines, the store, and what is read off kept runs."""
