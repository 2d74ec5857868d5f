package main

// The SQLite driver, for package store and for databases of Flipt v1.
import _ "modernc.org/sqlite"
