package evaluate

import (
	"context"
	"fmt"
	"io"
	"time"

	"github.com/guidonhq/guidon/cmd/internal/client"
	"github.com/guidonhq/guidon/cmd/internal/command/cli"
	"github.com/guidonhq/guidon/handler/wire/guidonv1"
)

// runWatch prints the results, and then those that changed whenever something in the
// namespace does.
func (e *evaluateCommand) runWatch(ctx context.Context, entities []*guidonv1.ExplainEntity) error {
	return e.WithServer(ctx, &e.Connection, func(service client.Client) error {
		var after string
		if last, err := cli.NewestChange(ctx, service, e.Namespace); err != nil {
			return err
		} else if after = "0"; last != nil {
			after = client.PositionOf(last)
		}
		var previous []evaluated
		update := func() error {
			results, err := e.evaluate(ctx, service, entities)
			if err != nil {
				return err
			}
			changed := changedResults(previous, results)
			previous = results
			return e.printWatched(changed)
		}
		if err := update(); err != nil {
			return err
		}
		return e.Follow(ctx, &e.Connection, e.Namespace, after, func(*guidonv1.Change) error { return update() })
	})
}

// changedResults returns the results that differ from those before, or all if before is nil.
func changedResults(before, after []evaluated) []evaluated {
	if before == nil {
		return after
	}
	var changed []evaluated
	for i, r := range after {
		if !r.same(before[i]) {
			changed = append(changed, r)
		}
	}
	return changed
}

// printWatched prints each result at once, as one line or, in YAML, as one element of a
// list.
func (e *evaluateCommand) printWatched(results []evaluated) error {
	format := e.Output.AtTerminal(e.Program)
	for _, r := range results {
		s := shownEvaluations([]evaluated{r}, format == cli.FormatYAML)
		s.Table = func(out io.Writer) error { return e.printWatchedLine(out, r) }
		if err := e.ShowLine(format, s); err != nil {
			return err
		}
	}
	return nil
}

func (e *evaluateCommand) printWatchedLine(out io.Writer, r evaluated) error {
	reason, segments := r.reason()
	line := fmt.Sprintf("%s  %s  %s  (%s)", e.Now().UTC().Format(time.RFC3339), cli.Printable(r.entity), r.text(), reason)
	if segments != "-" {
		line += "  " + segments
	}
	_, err := fmt.Fprintln(out, line)
	return err
}
