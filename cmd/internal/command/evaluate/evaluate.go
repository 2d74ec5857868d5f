// Package evaluate has the commands that evaluate flags and explain the results.
package evaluate

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/sync/errgroup"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/cmd/internal/client"
	"github.com/guidonhq/guidon/cmd/internal/command/cli"
	"github.com/guidonhq/guidon/handler/convert"
	"github.com/guidonhq/guidon/handler/wire/evaluation"
	"github.com/guidonhq/guidon/handler/wire/guidonv1"
	"github.com/guidonhq/guidon/service"
)

const evaluateHelp = `Evaluate a flag for one or several entities, as a program does, and print the results.

Name the entities by --entity-id, which may be repeated, or list them in a file (--entities):
a JSON array of objects with "entityId" and "context", one such object in each line, or one
id in each line. --context and --context-file set the properties of all entities; an entity
in the file may have other values.

The output is a table at a terminal, and otherwise the JSON of the API: "enabled" is the
result of a boolean flag, and "variantKey" that of a variant flag.

--watch prints the results, and then those that change, until Ctrl-C. It needs a server, and
a token that may read flags. Otherwise, a token that may only evaluate is enough.`

const evaluateExample = `  guidon evaluate new-checkout -e user-42
  guidon evaluate price-test -n shop -e user-42 -e user-43 -c country=PT -c plan=gold
  guidon evaluate price-test -e user-42 -c '{"seats":120,"beta":true}'
  guidon evaluate price-test --entities users.txt --context-file shared.json -o json
  guidon evaluate new-checkout -e user-42 -o name
  guidon evaluate new-checkout -e user-42 --watch --address http://127.0.0.1:8080`

// evaluateCommand is one run of the command.
type evaluateCommand struct {
	cli.Task
	flag      string
	requestID string
	watch     bool
	entities  entitiesInput
	given     []*guidonv1.ExplainEntity // by them
}

// EvaluateCommand returns the command "evaluate".
func EvaluateCommand(p *cli.Program) *cobra.Command {
	e := &evaluateCommand{Task: cli.Task{Program: p}, entities: entitiesInput{context: contextInput{Program: p}}}
	return e.Command(cli.Verb{
		Use: "evaluate <flag>", Short: "Evaluate a flag for entities", Long: evaluateHelp, Example: evaluateExample,
		Names: "the results, such as true or the key of a variant", AtTerminal: true,
		Args: flagOfEntities, Complete: cli.InOrder(p.CompleteFlags),
		Options: func(command *cobra.Command) {
			e.entities.flags(command)
			flags := command.Flags()
			flags.StringVarP(&e.requestID, "request-id", "r", "", "`id` of the request, repeated in the result")
			flags.BoolVarP(&e.watch, "watch", "w", false, "print further results as they change")
		},
		Check: e.check, Read: e.read,
	})
}

func (e *evaluateCommand) check(command *cobra.Command) (err error) {
	e.flag = command.Flags().Arg(0)
	if e.given, err = e.entities.read(); err == nil && e.watch {
		_, err = e.Connection.Normalized()
	}
	return err
}

func (e *evaluateCommand) read(ctx context.Context, service client.Client, _ []string) (cli.Output, error) {
	if e.watch {
		return cli.Output{}, e.runWatch(ctx, service)
	}
	results, err := e.evaluate(ctx, service, e.given)
	if err != nil {
		return cli.Output{}, err
	}
	for _, r := range results {
		if r.response.GetErrorResponse() != nil {
			return cli.Output{}, guidon.Errorf(guidon.NotFound, "flag %q not found", e.Namespace+"/"+e.flag)
		}
	}
	return shownEvaluations(results, e.entities.many()), nil
}

// evaluate returns the results for the entities, in their order. A batch works for both types
// of flags; the other calls require the type to be known beforehand.
func (e *evaluateCommand) evaluate(ctx context.Context, client client.Client, entities []*guidonv1.ExplainEntity) ([]evaluated, error) {
	var results []evaluated
	for len(entities) > 0 {
		n := min(len(entities), service.MaxBatch)
		request := &evaluation.BatchEvaluationRequest{RequestId: e.requestID}
		for _, entity := range entities[:n] {
			request.Requests = append(request.Requests, &evaluation.EvaluationRequest{
				RequestId: e.requestID, NamespaceKey: e.Namespace, FlagKey: e.flag, EntityId: entity.GetEntityId(), Context: entity.GetContext(),
			})
		}
		response, err := cli.Call[evaluation.BatchEvaluationResponse](ctx, client, "/flipt.evaluation.EvaluationService/Batch", request)
		if err != nil {
			return nil, err
		}
		if got := len(response.GetResponses()); got != n {
			return nil, fmt.Errorf("unexpected response: got %d results for %d evaluations", got, n)
		}
		for i, r := range response.GetResponses() {
			results = append(results, evaluated{entity: entities[i].GetEntityId(), response: r})
		}
		entities = entities[n:]
	}
	return results, nil
}

// runWatch prints the results, and then those that changed whenever something in the
// namespace does, or the time comes at which rules of the flag do.
func (e *evaluateCommand) runWatch(ctx context.Context, service client.Client) error {
	last, err := cli.NewestChange(ctx, service, e.Namespace)
	if err != nil {
		return err
	}
	var previous []evaluated
	update := func(ctx context.Context) (due <-chan time.Time, err error) {
		next, err := e.nextBoundary(ctx, service) // before the results, so that none passes in between
		if err != nil {
			return nil, err
		}
		results, err := e.evaluate(ctx, service, e.given)
		if err != nil {
			return nil, err
		}
		if !next.IsZero() {
			due = time.After(max(time.Until(next), time.Second)) // the server's clock may be behind
		}
		changed := changedResults(previous, results)
		previous = results
		return due, e.printWatched(changed)
	}
	due, err := update(ctx)
	if err != nil {
		return err
	}
	group, ctx := errgroup.WithContext(ctx)
	changes := make(chan struct{})
	group.Go(func() error {
		return e.Follow(ctx, &e.Connection, e.Namespace, client.PositionOf(last), func(*guidonv1.Change) error {
			select {
			case changes <- struct{}{}:
			case <-ctx.Done():
			}
			return nil
		})
	})
	group.Go(func() (err error) {
		for err == nil {
			select {
			case <-changes:
			case <-due:
			case <-ctx.Done():
				return nil // Follow says why
			}
			due, err = update(ctx)
		}
		return err
	})
	return group.Wait()
}

// nextBoundary returns when a rule of the flag, or of one that it requires, next begins, ends or
// changes its share: nothing is recorded then. It returns the zero time if none does.
func (e *evaluateCommand) nextBoundary(ctx context.Context, c client.Client) (next time.Time, err error) {
	keys := []string{e.flag}
	for i := 0; i < len(keys); i++ {
		timeline, err := cli.Call[guidonv1.FlagTimeline](ctx, c, "/guidon.v1.AnalysisService/GetFlagTimeline",
			&guidonv1.GetFlagTimelineRequest{NamespaceKey: e.Namespace, Key: keys[i]})
		var found *guidonv1.FlagContent
		if err == nil {
			found, err = cli.Call[guidonv1.FlagContent](ctx, c, "/guidon.v1.EditService/GetFlagContent",
				&guidonv1.GetFlagContentRequest{NamespaceKey: e.Namespace, Key: keys[i]})
		}
		if errors.Is(err, guidon.NotFound) {
			continue // deleted, which is recorded
		}
		if err != nil {
			return next, err
		}
		for _, b := range timeline.GetBoundaries() {
			if at := b.GetAt().AsTime(); next.IsZero() || at.Before(next) {
				next = at
			}
		}
		for _, r := range convert.DocumentFlagOf(found.GetFlag()).Requirements() {
			if !slices.Contains(keys, r.FlagKey) {
				keys = append(keys, r.FlagKey)
			}
		}
	}
	return next, nil
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
