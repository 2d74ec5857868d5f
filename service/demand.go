package service

import "time"

// Demand says how current the state that a read returns must be. The zero Demand stands for
// the guarantee of the configuration.
type Demand struct {
	// Begun is when the request arrived. It must come from time.Now, because a store
	// compares it with its own times; zero means the start of the read.
	Begun time.Time
	// Fresh requires a check after Begun that the state is current.
	Fresh bool
	// AtLeast requires this revision of the namespace, or a later one. A [Service] waits
	// for it for at most [MaxRevisionWait]. A [Store] ignores it.
	AtLeast int64
	// MayBeStale allows an old state while the database is unavailable.
	MayBeStale bool
}
