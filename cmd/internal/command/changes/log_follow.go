package changes

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/guidonhq/guidon/change"
	"github.com/guidonhq/guidon/cmd/internal/client"
	"github.com/guidonhq/guidon/cmd/internal/command/cli"
	"github.com/guidonhq/guidon/handler/wire/guidonv1"
)

// checkFollow checks that the changes can be followed.
func (l *logCommand) checkFollow() error {
	if change.Kind(l.request.GetKind()).Global() {
		return cli.UsageError("--follow cannot be combined with --kind %s: these changes belong to no namespace", l.request.GetKind())
	}
	_, err := l.Connection.Normalized()
	return err
}

// follow prints the newest changes, and then further ones as they are made.
func (l *logCommand) follow(ctx context.Context, service client.Client) error {
	after, err := l.printNewest(ctx, service)
	if err != nil {
		return err
	}
	return l.Follow(ctx, &l.Connection, l.request.GetNamespaceKey(), after, l.printFollowed)
}

// printNewest prints the newest changes, the oldest first, and returns the position of the
// newest one in the namespace, whether it is selected or not.
func (l *logCommand) printNewest(ctx context.Context, service client.Client) (after string, err error) {
	last, err := cli.NewestChange(ctx, service, l.request.GetNamespaceKey())
	if err != nil || last == nil {
		return client.PositionOf(nil), err
	}
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
func (l *logCommand) printFollowed(c *guidonv1.Change) error {
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
		(q.GetSince() == nil || !c.GetAt().AsTime().Before(q.GetSince().AsTime())) &&
		strings.Contains(strings.ToLower(c.GetMessage()), strings.ToLower(q.GetMessage()))
}

// printLine prints a change immediately, as one line.
func (l *logCommand) printLine(c *guidonv1.Change) error {
	data := cli.DataOf(c)
	if l.Output == cli.FormatYAML {
		data = cli.DataOfAll([]*guidonv1.Change{c})
	}
	return l.ShowLine(l.Output, cli.Output{
		Data: data, Names: []string{strconv.FormatInt(c.GetRevision(), 10)},
		Table: func(out io.Writer) error { return printChange(out, c) },
	})
}

func printChange(out io.Writer, c *guidonv1.Change) error {
	line := fmt.Sprintf("%-8d  %s  %-24s  %s %s %s: %s", c.GetRevision(), c.GetAt().AsTime().Format(time.RFC3339), cli.ActorName(c.GetActor()),
		c.GetAction(), c.GetKind(), c.GetKey(), cli.OrDash(c.GetSummary()))
	if reason := c.GetReason().GetText(); reason != "" {
		line += "  [" + reason + "]"
	}
	if c.GetMessage() != "" {
		line += "  " + c.GetMessage()
	}
	_, err := fmt.Fprintln(out, line)
	return err
}
