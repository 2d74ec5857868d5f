package store

import (
	"bytes"
	"context"
	"database/sql"
	"slices"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/change"
	"github.com/guidonhq/guidon/internal/lists"
	"github.com/guidonhq/guidon/service"
)

// objects holds the flags or segments that a transaction has read and put. Nothing is
// written before the end of the transaction, so that an object put several times
// takes one statement and one change record.
type objects[T any] struct {
	kind       *kind[T]
	tx         *transaction
	items      map[string]*item
	listed     []string // the stored keys in creation order; nil if not read yet
	prefetched []*item  // the items whose bodies readListed read last
	complete   bool     // items has all stored objects, with their bodies
}

// item is the state of one key as the transaction sees it.
type item struct {
	body     []byte // nil if there is none or it has not been read
	unread   bool   // it is stored, but only its key has been read
	position int    // in objects.listed
	readable bool   // its body has been decoded, or put by the transaction
	created  guidon.Position
	change   *entry // the transaction's change to it; nil if none, and after a deletion
}

func newObjects[T any](tx *transaction, k *kind[T]) *objects[T] {
	return &objects[T]{kind: k, tx: tx, items: map[string]*item{}}
}

// load returns the item of the key, with its body.
func (o *objects[T]) load(ctx context.Context, key string) (*item, error) {
	it, ok := o.items[key]
	switch {
	case ok && it.unread:
		return it, o.readListed(ctx, key)
	case ok:
		return it, nil
	}
	it = &item{}
	if !o.complete && o.listed == nil && o.tx.mayHaveObjects() && storable(key) {
		_, err := o.tx.s.row(ctx, o.kind.selectOne(), []any{o.tx.namespace, key},
			&it.created.Revision, &it.created.Sequence, &it.body)
		if err != nil {
			return nil, err
		}
		if err := o.tx.applyClaim(); err != nil {
			return nil, err
		}
	}
	o.items[key] = it
	return it, nil
}

// loadAll reads all stored objects that have not been read yet.
func (o *objects[T]) loadAll(ctx context.Context) error {
	if o.complete {
		return nil
	}
	if err := o.loadSome(ctx, o.kind.selectAll()); err != nil {
		return err
	}
	o.complete = true
	return nil
}

// loadSome reads those objects that a query returns, which selectAll describes, and that have not
// been read yet.
func (o *objects[T]) loadSome(ctx context.Context, query string, args ...any) error {
	if err := o.tx.ensureHead(ctx); err != nil || !o.tx.head.live {
		return err
	}
	return o.tx.s.rows(ctx, query, append([]any{o.tx.namespace}, args...), func(rows *sql.Rows) error {
		it := &item{}
		var key string
		if err := rows.Scan(&key, &it.created.Revision, &it.created.Sequence, &it.body); err != nil {
			return err
		}
		known := o.items[key]
		if known != nil && known.unread {
			it.position = known.position
		}
		if known == nil || known.unread {
			o.items[key] = it
		}
		return nil
	})
}

// containing returns the objects whose stored form has the text, in creation order.
func (o *objects[T]) containing(ctx context.Context, text string) ([]*T, error) {
	if !o.complete {
		if err := o.loadSome(ctx, o.kind.selectContaining(), "%"+text+"%"); err != nil {
			return nil, err
		}
	}
	var keys []string
	for key, it := range o.items {
		if bytes.Contains(it.body, []byte(text)) {
			keys = append(keys, key)
		}
	}
	slices.SortFunc(keys, func(a, b string) int { return compareCursors(o.items[a].created, o.items[b].created) })
	return lists.Map(keys, func(key string) *T { return o.kind.decode(key, o.items[key].body, o.items[key].created) }), nil
}

// listAll reads the keys of all stored objects without the bodies, which are much
// longer.
func (o *objects[T]) listAll(ctx context.Context) error {
	if o.complete || o.listed != nil {
		return nil
	}
	if err := o.tx.ensureHead(ctx); err != nil {
		return err
	}
	o.listed = []string{}
	if !o.tx.head.live {
		return nil
	}
	stored := map[string]guidon.Position{}
	err := o.tx.s.rows(ctx, o.kind.selectKeys(), []any{o.tx.namespace}, func(rows *sql.Rows) error {
		var key string
		var created guidon.Position
		if err := rows.Scan(&key, &created.Revision, &created.Sequence); err != nil {
			return err
		}
		stored[key] = created
		o.listed = append(o.listed, key)
		if o.items[key] == nil {
			o.items[key] = &item{created: created, unread: true}
		}
		return nil
	})
	slices.SortFunc(o.listed, func(a, b string) int { return compareCursors(stored[a], stored[b]) })
	for i, key := range o.listed {
		o.items[key].position = i
	}
	return err
}

// readAhead is how many bodies are read together: callers that list the keys mostly
// get the objects in the same order.
const readAhead = 100

// readListed reads the body of a listed key and those of some keys after it.
func (o *objects[T]) readListed(ctx context.Context, key string) error {
	for _, it := range o.prefetched {
		if it.change == nil && it.body != nil { // it is unchanged, and most objects are requested once
			it.body, it.unread = nil, true
		}
	}
	o.prefetched = o.prefetched[:0]
	var lists [][]any
	for _, next := range o.listed[o.items[key].position:] {
		if o.items[next].unread {
			lists = append(lists, []any{o.tx.namespace, next, next})
		}
		if len(lists) == readAhead {
			break
		}
	}
	l := &objectCollector[T]{kind: o.kind}
	return o.tx.s.rowsOfEach(ctx, o.kind.selectListed(), lists, func() {
		if it := o.items[l.key]; it != nil && it.unread {
			it.body, it.unread = l.body, false
			o.prefetched = append(o.prefetched, it)
		}
	}, l.columns(&l.body)...)
}

// keys returns the keys of the existing objects, in creation order.
func (o *objects[T]) keys(ctx context.Context) ([]string, error) {
	if err := o.listAll(ctx); err != nil {
		return nil, err
	}
	keys := make([]string, 0, len(o.items))
	for key, it := range o.items {
		if it.body != nil || it.unread {
			keys = append(keys, key)
		}
	}
	slices.SortFunc(keys, func(a, b string) int { return compareCursors(o.items[a].created, o.items[b].created) })
	return keys, nil
}

func (o *objects[T]) get(ctx context.Context, key string) (*T, error) {
	it, err := o.load(ctx, key)
	if err != nil {
		return nil, err
	}
	if it.body == nil {
		return nil, guidon.Errorf(guidon.NotFound, "%s %q not found", o.kind.name, o.tx.namespace+"/"+key)
	}
	object := o.kind.decode(key, it.body, it.created)
	if err := o.kind.check(object); err != nil {
		return nil, err
	}
	it.readable = true
	return object, nil
}

func (o *objects[T]) list(ctx context.Context) ([]*T, error) {
	if err := o.loadAll(ctx); err != nil {
		return nil, err
	}
	keys, err := o.keys(ctx)
	if err != nil {
		return nil, err
	}
	all := make([]*T, len(keys))
	for i, key := range keys {
		it := o.items[key]
		all[i] = o.kind.decode(key, it.body, it.created)
	}
	return all, nil
}

func (o *objects[T]) put(ctx context.Context, object *T) error {
	if err := o.tx.mayPut(ctx); err != nil {
		return err
	}
	key := o.kind.key(object)
	if !storable(key) {
		return guidon.Errorf(guidon.InvalidArgument, "%s key %q cannot be stored", o.kind.name, key)
	}
	it, err := o.load(ctx, key)
	if err != nil {
		return err
	}
	if err := o.mayReplace(key, it, object); err != nil {
		return err
	}
	if o.kind.additions(object) {
		if err := o.tx.mayPutAdditions(ctx); err != nil {
			return err
		}
	}
	o.kind.normalize(object)
	body, err := encode(o.kind.stored(object))
	if err != nil {
		return err
	}
	if len(body) > service.MaxObjectSize {
		return service.TooLargeObject(o.kind.name, o.tx.namespace+"/"+key, len(body))
	}
	o.set(key, it, body, o.kind.created(object))
	return nil
}

// mayReplace returns an error if the object, or the stored one, is unreadable: a body that
// this release cannot read is never replaced.
func (o *objects[T]) mayReplace(key string, it *item, object *T) error {
	if err := o.kind.check(object); err != nil || it.body == nil || it.readable {
		return err
	}
	return o.kind.check(o.kind.read(key, it.body))
}

// set sets the body of the item and records the change. A created object gets the former
// position, unless that is zero.
func (o *objects[T]) set(key string, it *item, body []byte, former guidon.Position) {
	switch {
	case string(it.body) == string(body):
		return
	case it.body == nil:
		it.change = o.tx.record.add(o.kind.name, key, nil, body)
		it.change.listed = former
		it.created = o.tx.record.position(it.change)
		if former == (guidon.Position{}) {
			it.change.created = &it.created
		}
	case it.change == nil:
		it.change = o.tx.record.add(o.kind.name, key, it.body, body)
		it.change.listed = it.created
	default:
		it.change.after = body
	}
	it.body, it.readable = body, true
}

func (o *objects[T]) delete(ctx context.Context, key string) error {
	it, err := o.load(ctx, key)
	if err != nil || it.body == nil {
		return err
	}
	if it.change == nil {
		o.tx.record.add(o.kind.name, key, it.body, nil).listed = it.created
	} else {
		it.change.after = nil
	}
	it.body, it.change = nil, nil
	return nil
}

func (o *objects[T]) deleteAll(ctx context.Context) error {
	if err := o.loadAll(ctx); err != nil {
		return err
	}
	keys, err := o.keys(ctx)
	if err != nil {
		return err
	}
	for _, key := range keys {
		if err := o.delete(ctx, key); err != nil {
			return err
		}
	}
	return nil
}

// write applies the entries of the record to the table. Insertions come last, so that
// a deleted key can be created again.
func (o *objects[T]) write(ctx context.Context) error {
	namespace, revision := o.tx.namespace, o.tx.record.revision.Number
	if o.tx.dropped {
		return o.tx.s.later(ctx, "DELETE FROM "+o.kind.table+" WHERE namespace_key = ?", namespace)
	}
	inserts := newInsert(o.tx.s, o.kind.table,
		[]string{"namespace_key", o.kind.keyColumn, "created_rev", "created_seq", "changed_rev", "body"})
	for _, e := range o.tx.record.entries {
		if e.kind != o.kind.name || e.action() == change.ActionCreate {
			continue
		}
		if err := o.writeOne(ctx, e); err != nil {
			return err
		}
	}
	for _, e := range o.tx.record.entries {
		if e.kind != o.kind.name || e.action() != change.ActionCreate {
			continue
		}
		created := o.tx.record.position(e)
		inserts.Add(ctx, len(e.after), namespace, e.key, created.Revision, created.Sequence, revision, string(e.after))
	}
	return inserts.Flush(ctx)
}

func (o *objects[T]) writeOne(ctx context.Context, e *entry) error {
	where := " WHERE namespace_key = ? AND " + o.kind.keyColumn + " = ?"
	if e.action() == change.ActionDelete {
		return o.tx.s.later(ctx, "DELETE FROM "+o.kind.table+where, o.tx.namespace, e.key)
	}
	return o.tx.s.later(ctx, "UPDATE "+o.kind.table+" SET changed_rev = ?, body = ?"+where,
		o.tx.record.revision.Number, string(e.after), o.tx.namespace, e.key)
}
