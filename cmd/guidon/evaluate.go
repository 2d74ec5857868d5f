package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/spf13/cobra"
	"google.golang.org/protobuf/proto"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/cmd/internal/client"
	"github.com/guidonhq/guidon/handler/codec"
	"github.com/guidonhq/guidon/handler/wire/evaluation"
)

const evaluateHelp = `Evaluate a flag for an entity and print the result as JSON, with "enabled" for a
boolean flag and "variantKey" for a variant flag.

A token that is limited to evaluation is sufficient.`

const evaluateExample = `  guidon evaluate new-checkout -e user-42
  guidon evaluate price-test -n shop -e user-42 -c country=PT -c plan=gold
  guidon evaluate price-test -e user-42 -c '{"seats":120,"beta":true}'
  guidon evaluate new-checkout -e user-42 --address http://127.0.0.1:8080 | jq .enabled`

// evaluating is one run of the command.
type evaluating struct {
	*program
	connection connection
	request    evaluation.EvaluationRequest
	entity     entityInput
}

func (p *program) evaluateCommand() *cobra.Command {
	e := &evaluating{program: p}
	command := &cobra.Command{
		Use:     "evaluate <flag>",
		Short:   "Evaluate a flag for an entity",
		Long:    evaluateHelp,
		Example: evaluateExample,
		Args:    oneArgument("flag"),
		RunE:    p.action(e.run),
	}
	e.connection.flags(command)
	flags := command.Flags()
	flags.StringVarP(&e.request.NamespaceKey, "namespace", "n", guidon.DefaultNamespace, "`key` of the namespace")
	e.entity.flags(command)
	flags.StringVarP(&e.request.RequestId, "request-id", "r", "", "`id` of the request, repeated in the result")
	return command
}

func (e *evaluating) run(ctx context.Context, args []string) error {
	entity, err := e.entity.read(e.program)
	if err != nil {
		return err
	}
	e.request.FlagKey, e.request.EntityId, e.request.Context = args[0], entity.ID, entity.Context
	return e.withClient(ctx, &e.connection, reading, func(service client.Client) error {
		// A batch of one works for both types of flags. The other calls require the
		// type to be known beforehand.
		response := new(evaluation.BatchEvaluationResponse)
		err := service.Invoke(ctx, "/flipt.evaluation.EvaluationService/Batch", &evaluation.BatchEvaluationRequest{
			RequestId: e.request.RequestId, Requests: []*evaluation.EvaluationRequest{&e.request},
		}, response)
		if err != nil {
			return err
		}
		if len(response.GetResponses()) != 1 {
			return fmt.Errorf("unexpected response: got %d results for one evaluation", len(response.GetResponses()))
		}
		return e.print(response.GetResponses()[0])
	})
}

func (e *evaluating) print(result *evaluation.EvaluationResponse) error {
	var message proto.Message
	switch result := result.GetResponse().(type) {
	case *evaluation.EvaluationResponse_BooleanResponse:
		message = result.BooleanResponse
	case *evaluation.EvaluationResponse_VariantResponse:
		message = result.VariantResponse
	default:
		return guidon.Errorf(guidon.NotFound, "flag %q not found", e.request.GetNamespaceKey()+"/"+e.request.GetFlagKey())
	}
	return e.printMessage(message)
}

// printMessage prints the message as JSON, indented, as the API encodes it by default.
// The API's pretty mode would omit "enabled": false.
func (p *program) printMessage(m proto.Message) error {
	text, err := codec.Marshal(m)
	if err != nil {
		return err
	}
	var out bytes.Buffer
	if err := json.Indent(&out, text, "", "  "); err != nil {
		return err
	}
	out.WriteByte('\n')
	_, err = out.WriteTo(p.out)
	return err
}

// printMessages prints the messages as a JSON array, as printMessage prints one.
func printMessages[M proto.Message](p *program, messages []M) error {
	list := make([]json.RawMessage, len(messages))
	for i, m := range messages {
		text, err := codec.Marshal(m)
		if err != nil {
			return err
		}
		list[i] = text
	}
	return p.printJSON(list)
}

// oneArgument returns a check for exactly one argument. name is used in its errors.
func oneArgument(name string) cobra.PositionalArgs {
	return func(command *cobra.Command, args []string) error {
		switch {
		case len(args) == 0:
			return usageError("missing argument <%s>: %s", name, command.UseLine())
		case len(args) > 1:
			return usageError("unexpected argument %q: only one %s is allowed", args[1], name)
		case args[0] == "":
			return usageError("the %s must not be empty", name)
		}
		return nil
	}
}

// pairs parses the values of a key=value flag.
func pairs(flag string, texts []string) (map[string]string, error) {
	values := make(map[string]string, len(texts))
	for _, text := range texts {
		key, value, ok := strings.Cut(text, "=")
		if !ok || key == "" {
			return nil, usageError("invalid %s %q: must have the form key=value", flag, text)
		}
		if _, twice := values[key]; twice {
			return nil, usageError("duplicate key %q in %s", key, flag)
		}
		values[key] = value
	}
	return values, nil
}
