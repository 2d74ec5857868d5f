package store

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/change"
	"github.com/guidonhq/guidon/service"
)

// kind describes flags or segments, which are stored in the same way.
type kind[T any] struct {
	name      change.Kind
	table     string
	keyColumn string
	key       func(object *T) string
	read      func(key string, body []byte) *T
	state     func(object *T) (created *guidon.Position, unreadable *guidon.Unreadable)
	additions func(object *T) bool
	normalize func(object *T)
	stored    func(object *T) *T // the object as it is encoded
}

var flagKind = &kind[guidon.Flag]{
	name: change.KindFlag, table: "flags", keyColumn: "flag_key",
	key:       func(f *guidon.Flag) string { return f.Key },
	read:      guidon.ReadFlag,
	state:     func(f *guidon.Flag) (*guidon.Position, *guidon.Unreadable) { return &f.Created, f.Unreadable },
	additions: (*guidon.Flag).Additions,
	normalize: normalizeFlag,
	stored:    (*guidon.Flag).Stored,
}

var segmentKind = &kind[guidon.Segment]{
	name: change.KindSegment, table: "segments", keyColumn: "segment_key",
	key:       func(g *guidon.Segment) string { return g.Key },
	read:      guidon.ReadSegment,
	state:     func(g *guidon.Segment) (*guidon.Position, *guidon.Unreadable) { return &g.Created, g.Unreadable },
	additions: (*guidon.Segment).Additions,
	normalize: normalizeSegment,
	stored:    (*guidon.Segment).Stored,
}

// selectOne reads one row: created_rev, created_seq, body.
func (k *kind[T]) selectOne() string {
	return "SELECT created_rev, created_seq, body FROM " + k.table + " WHERE namespace_key = ? AND " + k.keyColumn + " = ?"
}

// selectAll reads all rows: key, created_rev, created_seq, body. They are in any
// order, because sorting is cheaper here than in the database, which would move the
// bodies.
func (k *kind[T]) selectAll() string {
	return "SELECT " + k.keyColumn + ", created_rev, created_seq, body FROM " + k.table + " WHERE namespace_key = ?"
}

// selectKeys is selectAll without the bodies.
func (k *kind[T]) selectKeys() string {
	return "SELECT " + k.keyColumn + ", created_rev, created_seq FROM " + k.table + " WHERE namespace_key = ?"
}

// selectListed is selectAll for one key, which is given twice; see [session.rowsOfEach].
func (k *kind[T]) selectListed() string {
	return k.selectAll() + " AND " + k.keyColumn + " >= ? AND " + k.keyColumn + " <= ? ORDER BY " + k.keyColumn + " LIMIT 1"
}

// selectContaining is selectAll for the rows whose body has a text, given as a pattern of LIKE.
func (k *kind[T]) selectContaining() string { return k.selectAll() + " AND body LIKE ?" }

// selectChanged is selectAll for the rows that changed after a revision.
func (k *kind[T]) selectChanged() string {
	return k.selectAll() + " AND changed_rev > ?"
}

// decode returns the object with the key, which may be unreadable.
func (k *kind[T]) decode(key string, body []byte, created guidon.Position) *T {
	object := k.read(key, body)
	at, _ := k.state(object)
	*at = created
	return object
}

// check returns an error if the object is unreadable.
func (k *kind[T]) check(object *T) error {
	if _, unreadable := k.state(object); unreadable != nil {
		return unreadable.Err
	}
	return nil
}

func (k *kind[T]) created(object *T) guidon.Position {
	at, _ := k.state(object)
	return *at
}

// compareCursors compares positions in the change log, which also give the order of
// lists.
func compareCursors(a, b guidon.Position) int {
	return cmp.Or(cmp.Compare(a.Revision, b.Revision), cmp.Compare(a.Sequence, b.Sequence))
}

// maxKey is the width of the columns that hold keys, in characters.
const maxKey = 255

// storable reports whether a key can be in the database at all. Other keys are not
// queried: databases differ in how they treat NUL, invalid UTF-8 and strings that are
// too long, and the result is known anyway.
func storable(key string) bool {
	return utf8.RuneCountInString(key) <= maxKey && utf8.ValidString(key) && !strings.ContainsRune(key, 0)
}

// storableText returns the text with NUL and invalid UTF-8, which not every database
// can store, replaced by U+FFFD.
func storableText(text string) string {
	if utf8.ValidString(text) && !strings.ContainsRune(text, 0) {
		return text
	}
	return strings.ReplaceAll(strings.ToValidUTF8(text, "\ufffd"), "\x00", "\ufffd")
}

// storableKey is storableText, cut to the width of a key.
func storableKey(text string) string {
	text = storableText(text)
	if utf8.RuneCountInString(text) <= maxKey {
		return text
	}
	return string([]rune(text)[:maxKey])
}

// Conditions on the position of a record. Each compares the position as a whole and, again,
// column by column: PostgreSQL and SQLite find the records in an index by the former, MySQL
// and MariaDB by the latter. Without it, they would read all records of the revision, of
// which an import makes many.
var (
	afterPosition  = comparePosition(">")
	beforePosition = comparePosition("<")
	inRange        = comparePosition(">=") + " AND " + comparePosition("<=")
)

func comparePosition(operator string) string { return compareColumns(operator, "revision", "seq") }

// compareColumns returns the comparison of columns, as a whole and again one by one.
func compareColumns(operator string, columns ...string) string {
	last := len(columns) - 1
	each := columns[last] + " " + operator + " ?"
	for i := last - 1; i >= 0; i-- {
		each = columns[i] + " " + operator[:1] + " ? OR " + columns[i] + " = ? AND " + each
		if i > 0 {
			each = "(" + each + ")"
		}
	}
	return "(" + strings.Join(columns, ", ") + ") " + operator + " (?" + strings.Repeat(", ?", last) + ") AND (" + each + ")"
}

// positionArgs returns the arguments of a comparison.
func positionArgs(p guidon.Position) []any { return compareArgs(p.Revision, p.Sequence) }

// compareArgs returns the arguments of compareColumns.
func compareArgs(values ...any) []any {
	args := values[:len(values):len(values)]
	for _, v := range values[:len(values)-1] {
		args = append(args, v, v)
	}
	return append(args, values[len(values)-1])
}

// positionRange is the range of positions from the first through the last.
type positionRange struct{ first, last guidon.Position }

// args returns the arguments of inRange.
func (r positionRange) args() []any { return append(positionArgs(r.first), positionArgs(r.last)...) }

// encode returns the stored form of an object. Equal objects have the same form,
// which is how writes that change nothing are recognized.
func encode(object any) ([]byte, error) {
	buffer := buffers.Get().(*bytes.Buffer)
	defer buffers.Put(buffer)
	buffer.Reset()
	encoder := json.NewEncoder(buffer)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(object); err != nil {
		return nil, fmt.Errorf("store: encode: %w", err)
	}
	// Clone leaves no spare capacity: a transaction may keep many bodies for long.
	return bytes.Clone(bytes.TrimSuffix(buffer.Bytes(), []byte("\n"))), nil
}

// buffers pools the buffers of encode.
var buffers = sync.Pool{New: func() any { return new(bytes.Buffer) }}

func decode(body []byte, object any) error {
	if err := json.Unmarshal(body, object); err != nil {
		return fmt.Errorf("store: decode: %w", err)
	}
	return nil
}

// normalizeTimes converts times to UTC and whole microseconds, which every database
// returns unchanged.
func normalizeTimes(times ...*time.Time) {
	for _, t := range times {
		*t = t.UTC().Truncate(time.Microsecond)
	}
}

func normalizeFlag(f *guidon.Flag) { normalizeTimes(service.FlagTimes(f)...) }

func normalizeSegment(g *guidon.Segment) { normalizeTimes(service.SegmentTimes(g)...) }

func normalizeAuthentication(a *service.Authentication) {
	normalizeTimes(&a.CreatedAt, &a.UpdatedAt)
	if !a.ExpiresAt.IsZero() {
		normalizeTimes(&a.ExpiresAt)
	}
}
