package guidon

// Revision identifies one state of a namespace. Number grows by one with every
// committed change and never restarts, not even when a namespace is deleted
// and created again. Stamp is random and written with the number: a database
// restored from a backup gives the same numbers again, but not the same stamps.
type Revision struct {
	Number int64
	Stamp  int64
}
