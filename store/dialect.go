package store

import "github.com/guidonhq/guidon"

// dialect is what differs between databases. Where a difference does not fit
// here, the query changes instead.
type dialect struct {
	name string
	ping string // a query that answers one number and touches the database itself

	// rebind turns ? placeholders into the database's own; nil leaves them.
	rebind func(query string) string

	// isUniqueViolation tells whether the error is a violated primary key or
	// unique index.
	isUniqueViolation func(err error) bool
	// mayRetry tells whether the transaction that met the error was rolled back
	// as a whole and may succeed when run again.
	mayRetry func(err error) bool
	// unavailable returns what to tell a caller about an error for which the
	// database is to blame, or "".
	unavailable func(err error) string
}

func (d *dialect) query(q string) string {
	if d.rebind == nil {
		return q
	}
	return d.rebind(q)
}

// authenticationsKey is the row of table namespaces, and the namespace of the
// change records, that belongs to the authentications. No namespace can have it,
// because of the parentheses, but a request may name it: every method treats it
// as a namespace that does not exist.
const authenticationsKey = "(authentications)"

func namespaceNotFound(key string) error {
	return guidon.Errorf(guidon.NotFound, "namespace %q not found", key)
}
