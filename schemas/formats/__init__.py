"""The three formats of schemas, each a package of its own behind one contract."""
