package guidon

import (
	"context"
	"time"
)

// AuthenticationsKey stands for the authentications where a store keeps, or asks
// for, revisions by the key of a namespace. No namespace can have it, because of
// the parentheses, but a request may name it: every method of [Store] treats it as
// a namespace that does not exist.
const AuthenticationsKey = "(authentications)"

// Store keeps namespaces, authentications and the records of their changes.
//
// All methods may be called concurrently. They return an *[Error] with code
// [Unavailable] when the database cannot be reached or stays too busy, the
// context's error when that ends first, and the errors named below; any other
// error is an internal one.
type Store interface {
	// Namespaces returns every namespace in creation order. The answer is shared
	// and not to be changed.
	Namespaces(ctx context.Context) ([]*Namespace, error)

	// Snapshot returns the current state of the namespace: a state that was
	// current at some moment after the call began, never a mixture of two. A
	// store that is configured so may return one that was current a stated time
	// before, unless Call.Fresh is set, but none from before a write that it has
	// acknowledged; and a still older one where Call.MayBeStale is set, while the
	// database does not answer. Where Call.Begun is set, it is the moment that is
	// meant. It returns NotFound for a namespace that does not exist. The caller
	// may keep the snapshot and must not change anything it reaches.
	Snapshot(ctx context.Context, namespace string) (*Snapshot, error)

	// Update runs fn alone on one namespace, whether it exists or not, and
	// commits what fn did together with the next revision and the change
	// records, or nothing at all.
	//
	// fn may run more than once, when the database asks for a retry, so it keeps
	// nothing of an earlier run and has no other effect; the ctx it is given is
	// the one to use inside. When fn returns an error, that error is returned
	// and nothing is stored. When fn stores nothing, no revision is used up.
	//
	// The call of ctx ([CallFrom]) is the author of the change records and may
	// demand a revision: Update returns FailedPrecondition, without running fn,
	// when Call.IfMatch is set and is not the current revision. On return
	// Call.Revision is the revision that is current for the caller, also when fn
	// failed; for a namespace that never existed it is left alone.
	Update(ctx context.Context, namespace string, fn func(ctx context.Context, tx Tx) error) error

	// Authentications returns all stored authentications, by the rules of
	// Snapshot.
	Authentications(ctx context.Context) (*AuthenticationSet, error)

	// UpdateAuthentications is Update for the authentications, which have a
	// revision of their own. Call.IfMatch and Call.Revision are not touched.
	UpdateAuthentications(ctx context.Context, fn func(ctx context.Context, tx AuthenticationTx) error) error

	// Changes returns the change records that fit the query, newest first unless
	// it says otherwise.
	Changes(ctx context.Context, query ChangeQuery) ([]*Change, error)
}

// Mirror connects an update with the copy that its caller keeps of a namespace, or
// of the authentications. D is [SnapshotDelta] or [AuthenticationDelta]. So the
// caller knows the state that it wrote without reading it.
type Mirror[D any] interface {
	// Held returns the revision of the copy, or false if there is none. It is called
	// inside the transaction, once for each run.
	Held() (Revision, bool)
	// Advance is called after the commit, in the order of the commits of the
	// process, and before the update returns. The deltas lead from the revision to
	// the committed state; the zero revision is the state without any object. If
	// there are none, the revision itself was current during the transaction.
	// Advance is not called if the update fails or if there is no way from the copy
	// to the new state.
	Advance(from Revision, deltas ...D)
}

// Tx reads and writes one namespace inside [Store.Update]. What it returns
// belongs to the caller, who may change it and put it back. A Tx is used by one
// goroutine and is dead when fn returns.
type Tx interface {
	// Now is the one instant of the transaction, in UTC and whole microseconds.
	Now() time.Time

	// Namespace returns the namespace, or NotFound.
	Namespace(ctx context.Context) (*Namespace, error)
	// PutNamespace creates or replaces the namespace.
	PutNamespace(ctx context.Context, namespace *Namespace) error
	// DeleteNamespace removes the namespace with its flags and segments.
	// Nothing may be put afterwards in the same transaction.
	DeleteNamespace(ctx context.Context) error

	// Flag returns the flag, or NotFound.
	Flag(ctx context.Context, key string) (*Flag, error)
	// Flags returns all flags in creation order.
	Flags(ctx context.Context) ([]*Flag, error)
	// FlagKeys returns the keys of all flags in creation order.
	FlagKeys(ctx context.Context) ([]string, error)
	// PutFlag creates or replaces the flag of that key. It returns NotFound when
	// the namespace does not exist and TooLarge when the stored form exceeds
	// [MaxObjectSize]. It puts the times of the flag into the form that is stored,
	// UTC and whole microseconds; Flag.Created is final when Update returns.
	PutFlag(ctx context.Context, flag *Flag) error
	// DeleteFlag removes the flag; one that does not exist is no error.
	DeleteFlag(ctx context.Context, key string) error

	// Segment returns the segment, or NotFound.
	Segment(ctx context.Context, key string) (*Segment, error)
	// Segments returns all segments in creation order.
	Segments(ctx context.Context) ([]*Segment, error)
	// SegmentKeys returns the keys of all segments in creation order.
	SegmentKeys(ctx context.Context) ([]string, error)
	// PutSegment creates or replaces the segment of that key, by the rules of
	// PutFlag.
	PutSegment(ctx context.Context, segment *Segment) error
	// DeleteSegment removes the segment; one that does not exist is no error.
	DeleteSegment(ctx context.Context, key string) error
}

// AuthenticationTx reads and writes authentications inside
// [Store.UpdateAuthentications].
type AuthenticationTx interface {
	// Now is the one instant of the transaction, in UTC and whole microseconds.
	Now() time.Time
	// Authentication returns the authentication with the id, or NotFound.
	Authentication(ctx context.Context, id string) (*Authentication, error)
	// First reports whether no authentication was ever stored before this
	// transaction, not even one that has been deleted since.
	First() bool
	// Expired returns at most limit authentications of the method whose expiry
	// lies before the instant, the earliest first.
	Expired(ctx context.Context, method Method, before time.Time, limit int) ([]*Authentication, error)
	// PutAuthentication creates or replaces the authentication of that id. It
	// returns InvalidArgument when another one has the same token hash.
	PutAuthentication(ctx context.Context, authentication *Authentication) error
	// DeleteAuthentication removes the authentication; one that does not exist
	// is no error.
	DeleteAuthentication(ctx context.Context, id string) error
}

// MaxObjectSize bounds the stored form of one flag or segment, in bytes. It
// leaves room for several attachments of the largest size and stays below what
// the databases accept in one packet.
const MaxObjectSize = 16 << 20
