package loginstate

import "context"

// Key is a random secret that all instances find in the database.
type Key struct {
	Number int64
	Secret [32]byte
}

// Keys provides the keys that seal cookies. It is safe for concurrent use. Its errors are
// returned to the callers of this package.
type Keys interface {
	// Newest returns the key that seals. It makes one if there is none, or if the newest is
	// too old.
	Newest(ctx context.Context) (Key, error)
	// Numbered returns the key with that number, and false if there is none. The number is
	// the client's, so the implementation must limit how often it looks for unknown ones.
	Numbered(ctx context.Context, number int64) (Key, bool, error)
}
