package main

import (
	"context"

	"github.com/spf13/cobra"
	"google.golang.org/protobuf/proto"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/cmd/internal/client"
	"github.com/guidonhq/guidon/handler/wire/guidonv1"
)

const explainHelp = `Evaluate a flag for an entity and explain the result: which rule or rollout decided,
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
  guidon explain new-checkout -e user-42 --json | jq .others`

// explaining is one run of the command.
type explaining struct {
	*program
	connection connection
	namespace  string
	entity     entityInput
	entities   string // path of a file
	asJSON     bool
	asTree     bool
}

func (p *program) explainCommand() *cobra.Command {
	e := &explaining{program: p}
	command := &cobra.Command{
		Use:     "explain <flag>",
		Short:   "Explain what a flag evaluates to for an entity",
		Long:    explainHelp,
		Example: explainExample,
		Args:    oneArgument("flag"),
		RunE:    p.action(e.run),
	}
	e.connection.flags(command)
	e.entity.flags(command)
	flags := command.Flags()
	flags.StringVarP(&e.namespace, "namespace", "n", guidon.DefaultNamespace, "`key` of the namespace")
	flags.StringVar(&e.entities, "entities", "", "`file` with many entities, of which the results are counted; - is the standard input")
	flags.BoolVar(&e.asJSON, "json", false, "print JSON, also at a terminal")
	flags.BoolVar(&e.asTree, "tree", false, "print a tree, also if the output is not a terminal")
	command.MarkFlagsMutuallyExclusive("json", "tree")
	return command
}

func (e *explaining) run(ctx context.Context, args []string) error {
	if e.entities != "" {
		return e.count(ctx, args[0])
	}
	entity, err := e.entity.read(e.program)
	if err != nil {
		return err
	}
	response := new(guidonv1.ExplainResponse)
	err = e.invoke(ctx, "Explain", &guidonv1.ExplainRequest{
		NamespaceKey: e.namespace, Key: args[0], EntityId: entity.ID, Context: entity.Context,
	}, response)
	if err != nil {
		return err
	}
	if e.prints() {
		return printExplanation(e.out, response)
	}
	return e.printMessage(response)
}

// count evaluates the flag for many entities.
func (e *explaining) count(ctx context.Context, flag string) error {
	if e.entity.given() {
		return usageError("--entities cannot be combined with --entity-id, --context or --context-file")
	}
	entities, err := e.readEntities(e.entities)
	if err != nil {
		return err
	}
	response := new(guidonv1.ExplainBatchResponse)
	err = e.invoke(ctx, "ExplainBatch", &guidonv1.ExplainBatchRequest{NamespaceKey: e.namespace, Key: flag, Entities: entities}, response)
	if err != nil {
		return err
	}
	if e.prints() {
		return printCounts(e.out, response)
	}
	return e.printMessage(response)
}

func (e *explaining) invoke(ctx context.Context, method string, request, response proto.Message) error {
	return e.withClient(ctx, &e.connection, reading, func(service client.Client) error {
		return service.Invoke(ctx, "/guidon.v1.ExplainService/"+method, request, response)
	})
}

// prints reports whether the output is for people.
func (e *explaining) prints() bool {
	return e.asTree || !e.asJSON && e.terminal(e.stdout)
}
