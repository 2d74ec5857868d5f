package object

import (
	"context"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/durationpb"
	"google.golang.org/protobuf/types/known/emptypb"

	"github.com/guidonhq/guidon/cmd/internal/client"
	"github.com/guidonhq/guidon/cmd/internal/command/cli"
	"github.com/guidonhq/guidon/handler/wire/guidonv1"
	"github.com/guidonhq/guidon/internal/clock"
)

const webhookHelp = `Create, list, change and delete webhooks, which send changes to URLs, and see what they
have sent. A webhook is about one namespace (--on), or about all.`

const webhookService = "/guidon.v1.WebhookService/"

// webhookCommands are the commands about webhooks.
type webhookCommands struct {
	*object
	on      string // the namespace, or "" for all
	request *guidonv1.CreateWebhookRequest
	given   *pflag.FlagSet // the options of update
	overlap string
	limit   int32
	before  int64

	replayed *guidonv1.ReplayWebhookRequest
}

func webhooks(p *cli.Program) *object {
	o := &object{Task: &cli.Task{Program: p}, kind: "webhook", group: "access"}
	o.short, o.long, o.Scope = "Send changes to URLs", webhookHelp, cli.InService
	w := &webhookCommands{object: o, request: new(guidonv1.CreateWebhookRequest)}
	o.verbs = []cli.Verb{
		{
			Use: "create <name> <url>", Short: "Create a webhook", Names: "the id", Options: w.fields,
			Long: `Create a webhook, which sends what is changed from now on, and print its secret, which is
not shown again. Receivers verify signatures with it, as Standard Webhooks says.`,
			Example: `  guidon webhook create deployments https://receiver.example/changes --on default
  guidon webhook create chat https://hooks.example/T0/B0 --on default --format slack --kind flag --key 'pay-*'
  guidon webhook create audit https://siem.example/in --event change,authentication,binding,webhook`,
			Check: func(command *cobra.Command) error { return cli.NotEmpty(command, "on") },
			Write: w.create,
		},
		{
			Use: "list", Short: "List webhooks", Names: "ids", Options: w.namespace,
			Long: "List the webhooks of a namespace, or all, in creation order.",
			Example: `  guidon webhook list
  guidon webhook list --on default -o json`,
			Read: w.list,
		},
		{
			Use: "update <id>", Short: "Change what a webhook sends", Names: "the id", Options: w.updateFields,
			Long: "Change what is given, and leave everything else as it is. A list replaces the present one.",
			Example: `  guidon webhook update 8a6e0804-2bd0-4672-b79d-d97027f9071a --name deploys --kind flag,segment
  guidon webhook update 8a6e0804-2bd0-4672-b79d-d97027f9071a --key ''`,
			Check: func(command *cobra.Command) error {
				return oneGiven(command.Flags(), "name", "url", "event", "kind", "key", "action", "format", "header")
			},
			Write: w.update,
		},
		{
			Use: "delete <id>...", Short: "Delete webhooks", Options: w.namespace,
			Long:    "Delete the webhooks with the given ids, with what they have not sent yet.",
			Example: `  guidon webhook delete 8a6e0804-2bd0-4672-b79d-d97027f9071a`,
			Write: func(ctx context.Context, c client.Client, ids []string) (cli.Output, error) {
				return cli.Output{}, w.each(ids, "deleted", func(id string) error {
					_, err := cli.Call[emptypb.Empty](ctx, c, webhookService+"DeleteWebhook", w.named(id))
					return err
				})
			},
		},
		{
			Use: "test <id>", Short: "Send a test to a webhook", Names: "the number", Options: w.namespace,
			Long:    "Send a test at once, whatever the state of the webhook, and print what came of it.",
			Example: `  guidon webhook test 8a6e0804-2bd0-4672-b79d-d97027f9071a`,
			Write:   w.test,
		},
		{
			Use: "rotate <id>", Short: "Give a webhook a new secret", Names: "the id", Options: w.rotateFields,
			Long:    "Give a webhook a new secret, and print it. The present one signs too, for the overlap.",
			Example: `  guidon webhook rotate 8a6e0804-2bd0-4672-b79d-d97027f9071a --overlap 1h`,
			Write:   w.rotate,
		},
		w.simple("pause", "PauseWebhook", "Make a webhook send nothing until it is resumed"),
		w.simple("resume", "ResumeWebhook", "Make a webhook send again, from where it was"),
		{
			Use: "replay <id> <namespace@revision>", Short: "Send changes to a webhook again", Names: "the id",
			Check: func(command *cobra.Command) (err error) {
				w.replayed, err = parseRevision(command.Flags().Arg(1))
				return err
			},
			Long: "Send the changes of a namespace to a webhook again, from a revision on. The deliveries have the ids that they had.",
			Example: `  guidon webhook replay 8a6e0804-2bd0-4672-b79d-d97027f9071a default@412
  guidon webhook replay 8a6e0804-2bd0-4672-b79d-d97027f9071a default@412 --dry-run`,
			Write: func(ctx context.Context, c client.Client, args []string) (cli.Output, error) {
				w.replayed.Id = args[0]
				return w.changed(ctx, c, "ReplayWebhook", w.replayed)
			},
		},
		{
			Use: "deliveries <id>", Short: "List what a webhook has sent", Names: "numbers", Options: w.listFields,
			Long: "List what a webhook has sent, the newest first, with the answers in JSON. They are kept for 7 days.",
			Example: `  guidon webhook deliveries 8a6e0804-2bd0-4672-b79d-d97027f9071a
  guidon webhook deliveries 8a6e0804-2bd0-4672-b79d-d97027f9071a --limit 1 -o json`,
			Read: w.deliveries,
		},
	}
	return o
}

func parseRevision(text string) (*guidonv1.ReplayWebhookRequest, error) {
	namespace, number, _ := strings.Cut(text, "@")
	revision, err := strconv.ParseInt(number, 10, 64)
	if err != nil || namespace == "" || revision < 1 {
		return nil, cli.UsageError("invalid argument %q: must be a namespace and a revision, such as default@412", text)
	}
	return &guidonv1.ReplayWebhookRequest{NamespaceKey: namespace, Revision: revision}, nil
}

func (w *webhookCommands) namespace(command *cobra.Command) {
	command.Flags().StringVar(&w.on, "on", "", "the `namespace` of the webhook (default all)")
}

func (w *webhookCommands) fields(command *cobra.Command) {
	w.namespace(command)
	flags, r := command.Flags(), w.request
	flags.StringSliceVar(&r.Events, "event", nil,
		"what is sent: change and, of all namespaces, authentication, binding and webhook (default change)")
	flags.StringSliceVar(&r.Kinds, "kind", nil, "only changes of these kinds: namespace, flag, segment (default all)")
	flags.StringSliceVar(&r.Keys, "key", nil, "only changes of objects with these keys, or beginnings such as pay-* (default all)")
	flags.StringSliceVar(&r.Actions, "action", nil, "only these actions: create, update, delete (default all)")
	flags.StringVar(&r.Format, "format", "", "the form of what is sent: guidon, cloudevents, slack, discord or teams (default guidon)")
	flags.StringToStringVar(&r.Headers, "header", nil, "headers to set, such as Authorization='Bearer x'")
}

func (w *webhookCommands) updateFields(command *cobra.Command) {
	w.fields(command)
	w.given = command.Flags()
	w.given.StringVar(&w.request.Name, "name", "", "the new name")
	w.given.StringVar(&w.request.Url, "url", "", "the new URL")
}

func (w *webhookCommands) rotateFields(command *cobra.Command) {
	w.namespace(command)
	command.Flags().StringVar(&w.overlap, "overlap", "24h", "how `long` the present secret signs too, at most 168h")
}

func (w *webhookCommands) listFields(command *cobra.Command) {
	w.namespace(command)
	command.Flags().Int32Var(&w.limit, "limit", 0, "the most deliveries, up to 100 (default 25)")
	command.Flags().Int64Var(&w.before, "before", 0, "only deliveries before the one with this `number`")
}

func (w *webhookCommands) named(id string) *guidonv1.WebhookRequest {
	return &guidonv1.WebhookRequest{Id: id, NamespaceKey: w.on}
}

// simple is a verb that changes the state of a webhook.
func (w *webhookCommands) simple(name, method, short string) cli.Verb {
	return cli.Verb{
		Use: name + " <id>", Short: short, Long: short + ".", Names: "the id", Options: w.namespace,
		Example: "  guidon webhook " + name + " 8a6e0804-2bd0-4672-b79d-d97027f9071a",
		Write: func(ctx context.Context, c client.Client, args []string) (cli.Output, error) {
			return w.changed(ctx, c, method, w.named(args[0]))
		},
	}
}

// changed calls an operation that returns the webhook.
func (w *webhookCommands) changed(ctx context.Context, c client.Client, method string, request proto.Message) (cli.Output, error) {
	h, err := cli.Call[guidonv1.Webhook](ctx, c, webhookService+method, request)
	output := listedWebhooks([]*guidonv1.Webhook{h})
	output.Data = cli.DataOf(h)
	if h.Secret == nil {
		return output, err
	}
	table := output.Table
	output.Table = func(out io.Writer) error {
		if err := table(out); err != nil {
			return err
		}
		_, err := fmt.Fprintf(out, "\nSecret, which is not shown again: %s\n", h.GetSecret())
		return err
	}
	return output, err
}

func (w *webhookCommands) create(ctx context.Context, c client.Client, args []string) (cli.Output, error) {
	w.request.Name, w.request.Url, w.request.NamespaceKey = args[0], args[1], w.on
	if w.on != "" {
		w.warnOfMissing(ctx, c, []string{w.on})
	}
	return w.changed(ctx, c, "CreateWebhook", w.request)
}

func (w *webhookCommands) update(ctx context.Context, c client.Client, args []string) (cli.Output, error) {
	have, err := cli.Call[guidonv1.Webhook](ctx, c, webhookService+"GetWebhook", w.named(args[0]))
	if err != nil {
		return cli.Output{}, err
	}
	given, r := w.given.Changed, w.request
	request := &guidonv1.UpdateWebhookRequest{
		Id: args[0], NamespaceKey: w.on, Name: orGiven(given("name"), r.Name, have.Name), Url: r.Url,
		Events: orGiven(given("event"), r.Events, have.Events), Kinds: orGiven(given("kind"), r.Kinds, have.Kinds),
		Keys: orGiven(given("key"), r.Keys, have.Keys), Actions: orGiven(given("action"), r.Actions, have.Actions),
		Format: orGiven(given("format"), r.Format, have.Format), Headers: orGiven(given("header"), r.Headers, have.Headers),
	}
	return w.changed(ctx, c, "UpdateWebhook", request)
}

func orGiven[T any](given bool, value, have T) T {
	if given {
		return value
	}
	return have
}

func (w *webhookCommands) rotate(ctx context.Context, c client.Client, args []string) (cli.Output, error) {
	overlap, err := clock.ParseDuration(w.overlap)
	if err != nil {
		return cli.Output{}, cli.UsageError("invalid --overlap: %v", err)
	}
	return w.changed(ctx, c, "RotateWebhookSecret", &guidonv1.RotateWebhookSecretRequest{
		Id: args[0], NamespaceKey: w.on, Overlap: durationpb.New(overlap),
	})
}

func (w *webhookCommands) list(ctx context.Context, c client.Client, _ []string) (cli.Output, error) {
	list, err := cli.Call[guidonv1.WebhookList](ctx, c, webhookService+"ListWebhooks", &guidonv1.ListWebhooksRequest{NamespaceKey: w.on})
	return listedWebhooks(list.GetWebhooks()), err
}

func listedWebhooks(all []*guidonv1.Webhook) cli.Output {
	const header = "ID\tNAME\tNAMESPACE\tHOST\tEVENTS\tFORMAT\tSTATE\tSINCE\tLAST DELIVERY"
	return cli.List(all, (*guidonv1.Webhook).GetId, header, func(h *guidonv1.Webhook) []any {
		state, since := h.GetState(), h.GetStateSince()
		if failures := h.GetFailures(); len(failures) > 0 && state == "active" {
			state, since = fmt.Sprintf("failing (%d attempts)", failures[0].GetAttempts()), failures[0].GetSince()
		}
		return []any{h.GetId(), h.GetName(), cli.NamespacesOf([]string{h.GetNamespaceKey()}), h.GetHost(),
			strings.Join(h.GetEvents(), ","), h.GetFormat(), state, cli.When(since), cli.When(h.GetLastDeliveryAt())}
	})
}

func (w *webhookCommands) test(ctx context.Context, c client.Client, args []string) (cli.Output, error) {
	d, err := cli.Call[guidonv1.WebhookDelivery](ctx, c, webhookService+"TestWebhook", w.named(args[0]))
	output := listedDeliveries([]*guidonv1.WebhookDelivery{d})
	output.Data = cli.DataOf(d)
	return output, err
}

func (w *webhookCommands) deliveries(ctx context.Context, c client.Client, args []string) (cli.Output, error) {
	list, err := cli.Call[guidonv1.WebhookDeliveryList](ctx, c, webhookService+"ListDeliveries",
		&guidonv1.ListDeliveriesRequest{Id: args[0], NamespaceKey: w.on, Limit: w.limit, Before: w.before})
	return listedDeliveries(list.GetDeliveries()), err
}

func listedDeliveries(all []*guidonv1.WebhookDelivery) cli.Output {
	const header = "NUMBER\tTIME\tNAMESPACE\tREVISION\tATTEMPT\tSTATUS\tMILLISECONDS\tERROR"
	return cli.List(all, func(d *guidonv1.WebhookDelivery) string { return strconv.FormatInt(d.GetNumber(), 10) }, header,
		func(d *guidonv1.WebhookDelivery) []any {
			revision := "test"
			if d.GetRevision() > 0 {
				revision = strconv.FormatInt(d.GetRevision(), 10)
			}
			return []any{d.GetNumber(), cli.When(d.GetAt()), cli.OrDash(d.GetNamespaceKey()), revision, d.GetAttempt(), d.GetStatus(),
				d.GetMilliseconds(), cli.OrDash(d.GetError())}
		})
}
