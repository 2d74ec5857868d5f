package convert

import (
	"github.com/guidonhq/guidon/change"
	"github.com/guidonhq/guidon/handler/wire/guidonv1"
)

// Change returns the message of a change record.
func Change(c *change.Record) *guidonv1.Change {
	m := &guidonv1.Change{
		NamespaceKey: c.Namespace, Revision: c.Revision, Sequence: c.Sequence,
		Kind: string(c.Kind), Key: c.Key, Action: string(c.Action),
		Actor: &guidonv1.Actor{Id: c.Actor.ID, Name: c.Actor.Name, Method: c.Actor.Method},
		At:    Timestamp(c.At), RequestId: c.RequestID,
		Before: Object(c.Before), After: Object(c.After),
	}
	if c.Address != "" {
		m.Address = &c.Address
	}
	return m
}
