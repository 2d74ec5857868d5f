package fliptdb

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"slices"
	"time"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/service"
)

// authenticationsPerTx limits the authentications written in one transaction.
const authenticationsPerTx = 500

// Refused reports whether nothing of the content can be written, because some of it is not as
// in Flipt, and the options do not say how to treat it.
func (c *Content) Refused() bool {
	return c.options.Damaged == RefuseDamaged && c.Loss != Loss{}
}

// Check returns how many of the objects are not yet in the store. It returns
// FailedPrecondition if the content is refused, or if it conflicts with the store: a
// namespace has flags or segments that differ from those of the content, or a token already
// exists. It also sets the times that cannot be read, to those that the store has from an
// earlier import, or to that of this one.
func (c *Content) Check(ctx context.Context, store service.Store) (missing int, err error) {
	if c.Refused() {
		return 0, guidon.Errorf(guidon.FailedPrecondition, "not everything can be imported as it is (%s)", c.Loss)
	}
	for _, n := range c.Namespaces {
		snapshot, _, err := store.Snapshot(ctx, n.Key, service.Demand{})
		if errors.Is(err, guidon.NotFound) {
			snapshot, err = guidon.NewSnapshot(new(guidon.Namespace), guidon.Revision{}, nil, nil), nil
		}
		if err != nil {
			return 0, err
		}
		n.setTimes(snapshot, c.options.Now)
		if err := n.checkStored(snapshot.Flags(), snapshot.Segments()); err != nil {
			return 0, err
		}
		missing += n.Objects() - len(snapshot.Flags()) - len(snapshot.Segments())
		if n.keepSettings(snapshot.Namespace()) {
			missing--
		}
	}
	more, err := c.checkAuthentications(ctx, store)
	return missing + more, err
}

// Objects counts the namespace, its flags and its segments.
func (n *Namespace) Objects() int { return 1 + len(n.Flags) + len(n.Segments) }

// keepSettings copies the settings that Flipt's namespaces do not have from the stored one,
// and reports whether both are the same then.
func (n *Namespace) keepSettings(stored *guidon.Namespace) bool {
	n.Color, n.ConfirmChanges = stored.Color, stored.ConfirmChanges
	return same(n.Namespace, *stored)
}

// setTimes sets the times of the namespace, and of its flags and segments, that could not be
// read.
func (n *Namespace) setTimes(stored *guidon.Snapshot, now time.Time) {
	setTimes(namespaceTimes(&n.Namespace), namespaceTimes(stored.Namespace()), now)
	for _, g := range n.Segments {
		setTimes(service.SegmentTimes(g), service.SegmentTimes(stored.Segment(g.Key)), now)
	}
	for _, f := range n.Flags {
		setTimes(service.FlagTimes(f), service.FlagTimes(stored.Flag(f.Key)), now)
	}
}

// setTimes sets the zero times to those of the stored object, so that the same import can
// be repeated, or else to now.
func setTimes(times, stored []*time.Time, now time.Time) {
	for i, t := range times {
		if t.IsZero() && i < len(stored) {
			*t = *stored[i]
		}
		if t.IsZero() {
			*t = now
		}
	}
}

func namespaceTimes(n *guidon.Namespace) []*time.Time {
	return []*time.Time{&n.CreatedAt, &n.UpdatedAt}
}

func authenticationTimes(a *service.Authentication) []*time.Time {
	if a == nil {
		return nil
	}
	return []*time.Time{&a.CreatedAt, &a.UpdatedAt}
}

// checkAuthentications returns how many of the authentications are not yet in the store.
func (c *Content) checkAuthentications(ctx context.Context, store service.Store) (missing int, err error) {
	set, _, err := store.Authentications(ctx, service.Demand{}, "")
	if err != nil {
		return 0, err
	}
	for _, a := range c.Authentications {
		byID, byHash := set.ByID(a.ID), set.ByTokenHash(a.TokenHash)
		setTimes(authenticationTimes(a), authenticationTimes(byID), c.options.Now)
		if byID == nil && byHash == nil {
			missing++
			continue
		}
		if byID == nil || byID != byHash || !sameAuthentication(a, byID) {
			return 0, conflicting(a)
		}
	}
	return missing, nil
}

// LimitTokens gives the role to the static tokens, which could otherwise do everything:
// Flipt's policies for them are not in its database.
func (c *Content) LimitTokens(role service.Role) {
	for _, a := range c.Authentications {
		if a.Method == service.MethodToken {
			a.Role = role
		}
	}
}

// Write stores the content: each namespace in one transaction, which also replaces its name
// and description, then the authentications. Objects that are already stored, for example
// by an interrupted Write, are not changed. Like [Content.Check], it returns
// FailedPrecondition, before it writes anything.
//
// written is called after each transaction with the number of objects stored.
func (c *Content) Write(ctx context.Context, store service.Store, w service.Write, written func(objects int)) error {
	if missing, err := c.Check(ctx, store); err != nil || missing == 0 {
		return err
	}
	for _, n := range c.Namespaces {
		if _, err := store.Update(ctx, n.Key, w, n.put); err != nil {
			return err
		}
		written(n.Objects())
	}
	for some := range slices.Chunk(c.Authentications, authenticationsPerTx) {
		err := store.UpdateAuthentications(ctx, w, func(ctx context.Context, tx service.AuthenticationTx) error {
			return putAuthentications(ctx, tx, some)
		})
		if err != nil {
			return err
		}
		written(len(some))
	}
	return nil
}

func (n *Namespace) put(ctx context.Context, tx service.Tx) error {
	flags, err := tx.Flags(ctx)
	if err != nil {
		return err
	}
	segments, err := tx.Segments(ctx)
	if err != nil {
		return err
	}
	if err := n.checkStored(flags, segments); err != nil {
		return err
	}
	namespace := n.Namespace
	if err := tx.PutNamespace(ctx, &namespace); err != nil {
		return err
	}
	for _, g := range n.Segments {
		if err := tx.PutSegment(ctx, g); err != nil {
			return err
		}
	}
	for _, f := range n.Flags {
		if err := tx.PutFlag(ctx, f); err != nil {
			return err
		}
	}
	return nil
}

// checkStored returns an error if a stored flag or segment is not also in n.
func (n *Namespace) checkStored(flags []*guidon.Flag, segments []*guidon.Segment) error {
	ours := make(map[string]any, len(n.Flags)+len(n.Segments))
	for _, f := range n.Flags {
		ours["flag "+f.Key] = f
	}
	for _, g := range n.Segments {
		ours["segment "+g.Key] = g
	}
	for _, f := range flags {
		if err := n.matches(ours, "flag "+f.Key, f); err != nil {
			return err
		}
	}
	for _, g := range segments {
		if err := n.matches(ours, "segment "+g.Key, g); err != nil {
			return err
		}
	}
	return nil
}

func (n *Namespace) matches(ours map[string]any, name string, stored any) error {
	if object, ok := ours[name]; ok && same(object, stored) {
		return nil
	}
	return guidon.Errorf(guidon.FailedPrecondition,
		"namespace %q is not empty: it has the %s, which is missing or different in Flipt; import into an empty database", n.Key, name)
}

func putAuthentications(ctx context.Context, tx service.AuthenticationTx, some []*service.Authentication) error {
	for _, a := range some {
		stored, err := tx.Authentication(ctx, a.ID)
		switch {
		case errors.Is(err, guidon.NotFound):
			if err := tx.PutAuthentication(ctx, a); err != nil {
				return err
			}
		case err != nil:
			return err
		case !sameAuthentication(a, stored):
			return conflicting(a)
		}
	}
	return nil
}

func sameAuthentication(a, b *service.Authentication) bool {
	return a.TokenHash == b.TokenHash && same(a, b)
}

func conflicting(a *service.Authentication) error {
	return guidon.Errorf(guidon.FailedPrecondition,
		"authentication %q, or another one with the same token, already exists and differs from that of Flipt", a.ID)
}

// same reports whether a and b have the same stored form.
func same(a, b any) bool {
	left, err := json.Marshal(a)
	if err != nil {
		return false
	}
	right, err := json.Marshal(b)
	return err == nil && bytes.Equal(left, right)
}
