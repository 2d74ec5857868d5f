package guidon

// Revision identifies one state of a namespace, or of the authentications. Number grows
// by one with every committed change and never restarts, not even if a namespace is
// deleted and created again. Stamp is random and written together with the number. A
// database restored from a backup assigns the same numbers again, but not the same
// stamps.
type Revision struct {
	Number int64
	Stamp  int64
}
