package evaluate

import (
	"cmp"
	"context"
	"fmt"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/guidonhq/guidon/cmd/internal/client"
	"github.com/guidonhq/guidon/cmd/internal/command/cli"
	"github.com/guidonhq/guidon/handler/wire/flipt"
	"github.com/guidonhq/guidon/handler/wire/guidonv1"
)

const explainHelp = `Evaluate a flag for an entity and explain the result: which rule decided,
what each segment and constraint compared, and the bucket of the entity. For every
other result that the flag can return, it prints the changes of the context that
are needed, or why no context gives it.

At a terminal it prints a tree, otherwise the JSON of the API.

--entities evaluates the flag for up to 1,000 entities and counts the results. The
file is a JSON array of objects with "entityId" and "context", or has one such
object or one entity id per line.`

const explainExample = `  guidon explain new-checkout -e user-42 -c country=PT
  guidon explain new-checkout -n shop -e user-42 -c '{"seats":120,"beta":true}'
  guidon explain new-checkout -e user-42 --context-file user-42.json
  guidon explain new-checkout --entities users.txt
  guidon explain new-checkout -e user-42 -o json | jq .others`

// explainCommand is one run of the command.
type explainCommand struct {
	cli.Task
	entity   entityInput
	path     string // of a file with entities
	entities []*guidonv1.ExplainEntity
}

// ExplainCommand returns the command "explain".
func ExplainCommand(p *cli.Program) *cobra.Command {
	e := &explainCommand{Task: cli.Task{Program: p}, entity: entityInput{context: contextInput{Program: p}}}
	return e.Command(cli.Verb{
		Use: "explain <flag>", Short: "Explain what a flag evaluates to for an entity", Long: explainHelp, Example: explainExample,
		Names: "the result, such as true or the key of a variant", AtTerminal: true,
		Args: flagOfEntities, Complete: cli.InOrder(p.CompleteFlags),
		Options: func(command *cobra.Command) {
			e.entity.flags(command)
			command.Flags().StringVar(&e.path, "entities", "", "`file` with many entities, of which the results are counted; - is the standard input")
		},
		Check: e.check,
		Read: func(ctx context.Context, service client.Client, args []string) (cli.Output, error) {
			if e.path != "" {
				return e.count(ctx, service, args[0])
			}
			r, err := cli.Call[guidonv1.ExplainResponse](ctx, service, "/guidon.v1.ExplainService/Explain", &guidonv1.ExplainRequest{
				NamespaceKey: e.Namespace, Key: args[0], EntityId: e.entity.id, Context: e.entity.values,
			})
			return cli.Output{
				Data: cli.DataOf(r), Names: []string{evaluated{response: r.GetResult()}.value()},
				Table: cli.Text("%s", explanation(r)),
			}, err
		},
	})
}

func (e *explainCommand) check(command *cobra.Command) (err error) {
	switch {
	case e.path == "":
		return e.entity.read(command)
	case e.entity.given():
		return cli.UsageError("--entities cannot be combined with --entity-id, --context or --context-file")
	}
	e.entities, err = readEntities(e.Program, e.path)
	return err
}

// count evaluates the flag for many entities.
func (e *explainCommand) count(ctx context.Context, service client.Client, flag string) (cli.Output, error) {
	r, err := cli.Call[guidonv1.ExplainBatchResponse](ctx, service, "/guidon.v1.ExplainService/ExplainBatch",
		&guidonv1.ExplainBatchRequest{NamespaceKey: e.Namespace, Key: flag, Entities: e.entities})
	return cli.Output{
		Data: cli.DataOf(r), Names: countedValues(r), Table: countTable(r),
	}, err
}

// countedValues returns the results that entities have, the most frequent first.
func countedValues(r *guidonv1.ExplainBatchResponse) []string {
	var values []string
	for _, c := range r.GetCounts() {
		value := c.GetVariantKey()
		if r.GetFlagType() == flipt.FlagType_BOOLEAN_FLAG_TYPE {
			value = strconv.FormatBool(c.GetEnabled())
		}
		values = append(values, value)
	}
	return values
}

// ExplainSegment returns the verb "segment explain".
func ExplainSegment(t *cli.Task) cli.Verb {
	entity := entityInput{context: contextInput{Program: t.Program}}
	return cli.Verb{
		Use: "explain <segment>", Short: "Explain whether an entity is in a segment",
		Long: `Print whether an entity is in a segment, and what each constraint compared.

At a terminal it prints a tree, otherwise the JSON of the API.`,
		Example: `  guidon segment explain beta-users -e user-42 -c country=PT
  guidon segment explain beta-users --context-file user-42.json -o name`,
		Names: "true or false", AtTerminal: true, Complete: cli.InOrder(t.CompleteSegments),
		Options: entity.flags, Check: entity.read,
		Read: func(ctx context.Context, c client.Client, args []string) (cli.Output, error) {
			r, err := cli.Call[guidonv1.ExplainSegmentResponse](ctx, c, "/guidon.v1.ExplainService/ExplainSegment",
				&guidonv1.ExplainSegmentRequest{NamespaceKey: t.Namespace, Key: args[0], EntityId: entity.id, Context: entity.values})
			return cli.Output{
				Data: cli.DataOf(r), Names: []string{fmt.Sprint(r.GetSegment().GetMatched())},
				Table: cli.Text("%s", membership(r)),
			}, err
		},
	}
}

// membership returns whether the entity is in the segment as a tree.
func membership(r *guidonv1.ExplainSegmentResponse) string {
	s, in := r.GetSegment(), "is not in"
	if s.GetMatched() {
		in = "is in"
	}
	return fmt.Sprintf("%s %s %s\n%s", cli.Printable(cmp.Or(r.GetEntityId(), "an entity without id")), in,
		cli.Printable(r.GetNamespaceKey()+"/"+s.GetKey()),
		cli.Tree([]cli.Node{segment(cli.Mark(s.GetMatched())+" segment "+cli.Printable(s.GetKey()), s, "")}))
}
