package main

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/change"
	"github.com/guidonhq/guidon/cmd/internal/client"
	"github.com/guidonhq/guidon/handler/codec"
	"github.com/guidonhq/guidon/handler/wire/guidonv1"
)

// runFollow prints the newest changes, and then further ones as they are made.
func (l *logging) runFollow(ctx context.Context) error {
	switch {
	case !l.connection.remote():
		return usageError("--follow requires a server; specify it with --address")
	case change.Kind(l.request.GetKind()).Global():
		return usageError("--follow cannot be combined with --kind %s: these changes belong to no namespace", l.request.GetKind())
	}
	address, err := client.Normalize(l.connection.address)
	if err != nil {
		return usageError("%w", err)
	}
	token, err := l.tokenFor(&l.connection, address)
	if err != nil {
		return err
	}
	var after string
	err = l.withClient(ctx, &l.connection, reading, func(service client.Client) error {
		after, err = l.printNewest(ctx, service)
		return err
	})
	if err != nil {
		return err
	}
	err = client.Follower{
		Namespace: l.request.GetNamespaceKey(), After: after, Each: l.printFollowed,
		Lost: func(err error) { fmt.Fprintf(l.err, "guidon: %v; connecting again\n", err) },
	}.Follow(ctx, address, client.Options{Token: token, Timeout: l.connection.timeout})
	switch guidon.CodeOf(err) {
	case guidon.NotFound, guidon.Unimplemented:
		return fmt.Errorf("%w; the server does not offer change streams unless streams.enabled is true", err)
	}
	return err
}

// printNewest prints the newest changes, the oldest first, and returns the position of the
// newest one in the namespace, whether it is selected or not.
func (l *logging) printNewest(ctx context.Context, service client.Client) (after string, err error) {
	newest := new(guidonv1.ListChangesResponse)
	request := &guidonv1.ListChangesRequest{NamespaceKey: l.request.GetNamespaceKey(), Limit: 1}
	if err := service.Invoke(ctx, "/guidon.v1.ChangeService/ListChanges", request, newest); err != nil {
		return "", err
	}
	if len(newest.GetChanges()) == 0 {
		return "0", nil
	}
	last := newest.GetChanges()[0]
	var changes []*guidonv1.Change
	err = l.each(ctx, service, func(c *guidonv1.Change) error {
		if !precedes(last, c) { // the stream sends later ones
			changes = append(changes, c)
		}
		return nil
	})
	if err != nil {
		return "", err
	}
	for _, c := range slices.Backward(changes) {
		if err := l.printLine(c); err != nil {
			return "", err
		}
	}
	return client.PositionOf(last), nil
}

// precedes reports whether a is before b in the change log.
func precedes(a, b *guidonv1.Change) bool {
	return a.GetRevision() < b.GetRevision() || a.GetRevision() == b.GetRevision() && a.GetSequence() < b.GetSequence()
}

// printFollowed prints a change of the stream if it is selected.
func (l *logging) printFollowed(c *guidonv1.Change) error {
	if !selects(&l.request, c) {
		return nil
	}
	return l.printLine(c)
}

// selects reports whether the request, which has no end, selects the change, as the service
// would.
func selects(q *guidonv1.ListChangesRequest, c *guidonv1.Change) bool {
	return (q.GetKind() == "" || q.GetKind() == c.GetKind()) &&
		(q.GetKey() == "" || q.GetKey() == c.GetKey()) &&
		(q.GetActor() == "" || q.GetActor() == c.GetActor().GetId()) &&
		(q.GetReason() == "" || q.GetReason() == c.GetReason().GetKind()) &&
		(q.GetSince() == nil || !before(c.GetAt(), q.GetSince())) &&
		strings.Contains(strings.ToLower(c.GetMessage()), strings.ToLower(q.GetMessage()))
}

func before(a, b *timestamppb.Timestamp) bool { return a.AsTime().Before(b.AsTime()) }

// printLine prints a change immediately, as one line.
func (l *logging) printLine(c *guidonv1.Change) error {
	if l.asJSON {
		text, err := codec.Marshal(c)
		if err != nil {
			return err
		}
		_, err = fmt.Fprintf(l.out, "%s\n", text)
		return err
	}
	line := fmt.Sprintf("%-8d  %s  %-24s  %s %s %s: %s", c.GetRevision(), timeOr(instant(c.GetAt()), "-"), c.GetActor().GetId(),
		c.GetAction(), c.GetKind(), c.GetKey(), orDash(c.GetSummary()))
	if reason := c.GetReason().GetText(); reason != "" {
		line += "  [" + reason + "]"
	}
	if c.GetMessage() != "" {
		line += "  " + c.GetMessage()
	}
	_, err := fmt.Fprintln(l.out, line)
	return err
}
