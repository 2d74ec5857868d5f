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

// Position is the place of a record in the change log of a namespace: the revision that
// the change was committed in, and the record's number within it. Records before it are
// older, records after it newer. The zero Position means none. Flags and segments are
// listed by the position of their creation.
type Position struct {
	Revision int64
	Sequence int32
}
