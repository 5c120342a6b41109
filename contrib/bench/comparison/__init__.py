"""What contrib/bench/compare is made of; see ../README.md."""
