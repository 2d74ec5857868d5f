package changes

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/change"
	"github.com/guidonhq/guidon/cmd/internal/client"
	"github.com/guidonhq/guidon/cmd/internal/command/cli"
	"github.com/guidonhq/guidon/handler/wire/flipt"
	"github.com/guidonhq/guidon/handler/wire/guidonv1"
	"github.com/guidonhq/guidon/internal/lists"
)

const logHelp = `List changes of a namespace, the newest first: who changed what, when and why. With a
flag, or a segment, list only its changes. The ids of actors are in the output as JSON.

--since and --until take a time such as 2026-11-20T14:00:00Z, a day such as 2026-11-20
(UTC), or how long ago, such as 36h or 7d.

Changes of tokens and of role bindings belong to no namespace. List them with --kind
authentication and --kind binding, as an admin of everything.

With --all-namespaces, list those of all namespaces that you may view, the newest first by
time; --event selects what happened: turned-off, turned-on, targeting, created, deleted or
other.

With --follow, print the newest changes, the oldest first, and then further ones as they
are made, until interrupted, each on its own line of JSON or as an element of a YAML list.
It requires a running server.`

const logExample = `  guidon log
  guidon log new-checkout -n shop
  guidon log --segment beta-users --since 7d
  guidon log --message sale --reason import --limit 100
  guidon log --revision 410..412
  guidon log --all-namespaces --since 1h --event turned-off,turned-on
  guidon log --kind authentication --address https://flags.example
  guidon log --follow --address https://flags.example`

// maxLogged limits the changes that are listed.
const maxLogged = 10_000

// logCommand is one run of "log".
type logCommand struct {
	cli.Task
	request   guidonv1.ListChangesRequest // the filters
	segment   string
	since     string
	until     string
	revision  string
	limit     int
	following bool
	all       bool // of all namespaces
	events    []string

	found bool    // a change is listed
	rows  [][]any // of the table
}

// LogCommand returns the command "log".
func LogCommand(p *cli.Program) *cobra.Command {
	l := &logCommand{Task: cli.Task{Program: p}}
	return l.Command(cli.Verb{
		Use: "log [flag]", Short: "List changes, and follow them", Long: logHelp, Example: logExample, Names: "revisions",
		Args: cobra.MaximumNArgs(1), Complete: cli.InOrder(p.CompleteFlags),
		Options: l.options, Check: l.check, Read: l.read,
	})
}

func (l *logCommand) options(command *cobra.Command) {
	flags := command.Flags()
	flags.StringVar(&l.segment, "segment", "", "only changes of the segment with this `key`")
	flags.StringVar(&l.request.Kind, "kind", "",
		"only changes of this kind of object: namespace, flag, segment, authentication, binding or webhook")
	_ = command.RegisterFlagCompletionFunc("kind", cli.CompleteWords("namespace", "flag", "segment", "authentication", "binding", "webhook")) // the flag exists
	flags.StringVar(&l.request.Actor, "actor", "", "only changes by the actor with this `id`, such as token:<id>")
	flags.StringVar(&l.since, "since", "", "only changes at this `time` or later")
	flags.StringVar(&l.until, "until", "", "only changes before this `time`")
	flags.StringVar(&l.revision, "revision", "", "only changes of this `revision`, or of a range such as 410..412")
	_ = command.RegisterFlagCompletionFunc("revision", l.CompleteRevisions) // the flag exists
	flags.StringVar(&l.request.Message, "message", "", "only changes whose message contains this `text`, whatever the case")
	flags.StringVar(&l.request.Reason, "reason", "", "only changes of this kind of write: import, promotion, restore or undo")
	_ = command.RegisterFlagCompletionFunc("reason", cli.CompleteWords("import", "promotion", "restore", "undo")) // the flag exists
	flags.IntVar(&l.limit, "limit", 25, "the most changes to list; with --follow, those at the start")
	flags.BoolVarP(&l.following, "follow", "f", false, "print further changes as they are made")
	flags.BoolVar(&l.all, "all-namespaces", false, "list the changes of all namespaces")
	flags.StringSliceVar(&l.events, "event", nil, "with --all-namespaces, only these `events`")
	events := lists.Map(change.Events, func(event change.Event) string { return string(event) })
	_ = command.RegisterFlagCompletionFunc("event", cli.CompleteWords(events...)) // the flag exists
	for _, other := range []string{"namespace", "segment", "kind", "message", "reason", "revision", "follow"} {
		command.MarkFlagsMutuallyExclusive("all-namespaces", other)
	}
	command.MarkFlagsMutuallyExclusive("segment", "kind")
	command.MarkFlagsMutuallyExclusive("follow", "until")
	command.MarkFlagsMutuallyExclusive("follow", "revision")
}

func (l *logCommand) read(ctx context.Context, service client.Client, _ []string) (cli.Output, error) {
	if l.following {
		return cli.Output{}, l.follow(ctx, service)
	}
	err := l.each(ctx, service, l.add)
	if err == nil && !l.found {
		err = l.mustHaveExisted(ctx, service)
	}
	if err != nil {
		return cli.Output{}, err
	}
	return l.end()
}

// mustHaveExisted returns NotFound if the changes are those of an object that has none at
// all: the newest one of each object is kept. A namespace that has none must exist.
func (l *logCommand) mustHaveExisted(ctx context.Context, service client.Client) error {
	if l.all || l.request.GetKey() == "" && l.request.GetKind() != "" {
		return nil
	}
	newest, err := cli.Call[guidonv1.ListChangesResponse](ctx, service, "/guidon.v1.ChangeService/ListChanges", &guidonv1.ListChangesRequest{
		NamespaceKey: l.request.GetNamespaceKey(), Kind: l.request.GetKind(), Key: l.request.GetKey(), Limit: 1,
	})
	switch {
	case err != nil || len(newest.GetChanges()) > 0:
		return err
	case l.request.GetKey() == "":
		_, err = cli.Call[flipt.Namespace](ctx, service, "/flipt.Flipt/GetNamespace", &flipt.GetNamespaceRequest{Key: l.request.GetNamespaceKey()})
		return err
	default:
		return guidon.Errorf(guidon.NotFound, "there has never been a %s %q in namespace %q",
			l.request.GetKind(), l.request.GetKey(), l.request.GetNamespaceKey())
	}
}

// check checks the arguments and completes the request.
func (l *logCommand) check(command *cobra.Command) (err error) {
	args := command.Flags().Args()
	l.request.NamespaceKey = l.Namespace
	switch {
	case len(args) > 0 && l.all:
		return cli.UsageError("a flag cannot be combined with --all-namespaces")
	case len(l.events) > 0 && !l.all:
		return cli.UsageError("--event requires --all-namespaces")
	case len(args) > 0 && (l.segment != "" || l.request.GetKind() != ""):
		return cli.UsageError("a flag cannot be combined with --segment or --kind")
	case len(args) > 0 && args[0] == "":
		return cli.UsageError("the flag must not be empty")
	case len(args) > 0:
		l.request.Kind, l.request.Key = string(change.KindFlag), args[0]
	case l.segment != "":
		l.request.Kind, l.request.Key = string(change.KindSegment), l.segment
	}
	least := 1
	if l.following {
		least = 0
	}
	if l.limit < least || l.limit > maxLogged {
		return cli.UsageError("--limit must be between %d and %d", least, maxLogged)
	}
	if l.revision != "" {
		if l.request.FirstRevision, l.request.LastRevision, err = parseRevisions(l.revision); err != nil {
			return err
		}
	}
	if l.request.Since, err = l.TimeAgo("--since", l.since); err != nil {
		return err
	}
	if l.request.Until, err = l.TimeAgo("--until", l.until); err == nil && l.following {
		err = l.checkFollow()
	}
	return err
}

// logPage is how many changes are requested at a time, the maximum of the service.
const logPage = 100

// each calls fn for the selected changes, the newest first. With a message or a reason a
// page may be empty, since the service limits its work for one.
func (l *logCommand) each(ctx context.Context, service client.Client, fn func(*guidonv1.Change) error) error {
	l.request.PageToken = ""
	for left := l.limit; left > 0; {
		l.request.Limit = int32(min(left, logPage)) // #nosec G115 -- at most 100
		page, err := l.page(ctx, service)
		if err != nil {
			return err
		}
		for _, c := range page.GetChanges() {
			if err := fn(c); err != nil {
				return err
			}
		}
		left -= len(page.GetChanges())
		if l.request.PageToken = page.GetNextPageToken(); l.request.GetPageToken() == "" {
			return nil
		}
	}
	return nil
}

// page returns the page of the request, of one namespace or of all.
func (l *logCommand) page(ctx context.Context, service client.Client) (*guidonv1.ListChangesResponse, error) {
	const prefix = "/guidon.v1.ChangeService/"
	if !l.all {
		return cli.Call[guidonv1.ListChangesResponse](ctx, service, prefix+"ListChanges", &l.request)
	}
	return cli.Call[guidonv1.ListChangesResponse](ctx, service, prefix+"ListAllChanges", &guidonv1.ListAllChangesRequest{
		Actor: l.request.GetActor(), Since: l.request.GetSince(), Until: l.request.GetUntil(), Events: l.events,
		Limit: l.request.GetLimit(), PageToken: l.request.GetPageToken(),
	})
}
