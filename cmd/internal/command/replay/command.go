package replay

import (
	"context"
	"fmt"
	"iter"
	"time"

	"github.com/spf13/cobra"

	"github.com/guidonhq/guidon/cmd/internal/client"
	"github.com/guidonhq/guidon/cmd/internal/command/cli"
	"github.com/guidonhq/guidon/cmd/internal/config"
	"github.com/guidonhq/guidon/cmd/internal/machine"
)

const replayHelp = `Evaluate the same requests on two servers, each of which may be Flipt v1 or Guidon, and
print where their results differ: enabled, match, reason, variant, attachment and
segments, and which flags exist. Ids, times, durations, the order of segments and the
form of JSON in attachments make no difference. Nothing is changed on either server.

The requests come from logs, or with --generate from the flags of the first server: for
each flag those about both sides of everything that its rules compare, and
of each share.

A log is a file with one JSON object in each line: the body of an evaluation as clients
send it, with namespaceKey (default: default), flagKey, entityId and context, or of a
batch, with such objects in requests. Names with underscores, such as flag_key, are
understood as well, and other members are ignored. "-" is the standard input.

Tokens are in files, or in GUIDON_REPLAY_FROM_TOKEN and GUIDON_REPLAY_TO_TOKEN. The second
server is otherwise sent GUIDON_TOKEN, or the token of "guidon login".
`

const replayExample = `  guidon replay --generate --from http://flipt:8080 --to http://guidon:8080
  guidon replay requests.jsonl --from http://flipt:8080 --to https://flags.example
  guidon replay --generate --namespaces shop --from grpc://flipt:9000 --to http://guidon:8080 \
    --from-token-file flipt-token --to-token-file guidon-token
  jq -c '.log.entries[].request | select(.url | test("/evaluate/v1/")) | .postData.text | fromjson' shop.har |
    guidon replay - --from http://flipt:8080 --to http://guidon:8080
  guidon replay requests.jsonl --from http://flipt:8080 --to http://guidon:8080 --output json | jq '.flags[].flagKey'`

// replayCommand is one run of the command.
type replayCommand struct {
	cli.Task
	from, to    replaySide
	timeout     time.Duration
	generate    bool
	namespaces  []string
	perFlag     int
	skipInvalid bool
	options     Options
	differences cli.Differences

	skipped int // lines
}

// replaySide is one of the servers.
type replaySide struct{ address, tokenFile string }

// ReplayCommand returns the command "replay".
func ReplayCommand(p *cli.Program) *cobra.Command {
	r := &replayCommand{Task: cli.Task{Program: p, Scope: cli.OnMachine}}
	return r.Command(cli.Verb{
		Use: "replay <log>... | - | --generate", Short: "Compare the evaluations of two servers", Long: replayHelp, Example: replayExample,
		Names: "the flags that differ, such as shop/new-checkout", Args: cobra.ArbitraryArgs, Options: r.flags, Run: r.run,
		Check: func(command *cobra.Command) error {
			return cli.NotEmpty(command, "from", "to", "from-token-file", "to-token-file", "namespaces")
		},
	})
}

func (r *replayCommand) flags(command *cobra.Command) {
	r.differences.Flag(command, "differences")
	flags := command.Flags()
	const forms = ", such as http://host:8080, https://host, grpc://host:9000 or grpcs://host:9000"
	flags.StringVar(&r.from.address, "from", "", "`URL` of the first server"+forms+", or the name of a context")
	flags.StringVar(&r.to.address, "to", "", "`URL` of the second server, or the name of a context")
	flags.StringVar(&r.from.tokenFile, "from-token-file", "", "`file` with the token for the first server")
	flags.StringVar(&r.to.tokenFile, "to-token-file", "", "`file` with the token for the second server")
	flags.DurationVar(&r.timeout, "timeout", time.Minute, "longest `time` to wait for a response, repeated attempts included")
	flags.BoolVar(&r.generate, "generate", false, "make requests from the flags and segments of the first server")
	flags.StringSliceVar(&r.namespaces, "namespaces", nil, "`keys` of the namespaces for --generate, separated by commas (default: all)")
	flags.IntVar(&r.perFlag, "per-flag", 500, "maximum `number` of requests that --generate makes for a flag")
	flags.BoolVar(&r.skipInvalid, "skip-invalid", false, "count lines that are no requests instead of stopping")
	flags.IntVar(&r.options.Batch, "batch", 50, "`number` of evaluations in one call")
	flags.IntVar(&r.options.Concurrency, "concurrency", 4, "`number` of concurrent calls to each server")
	flags.IntVar(&r.options.Rate, "rate", 0, "maximum `number` of evaluations per second on each server; 0 means no limit")
	flags.IntVar(&r.options.Examples, "examples", 3, "`number` of differences to print for each flag")
	for _, name := range []string{"from", "to"} {
		_ = command.MarkFlagRequired(name) // the flags exist
	}
}

func (r *replayCommand) run(ctx context.Context, args []string) error {
	if err := r.checkUsage(args); err != nil {
		return err
	}
	from, err := r.dial(r.from, "GUIDON_REPLAY_FROM_TOKEN", func(string) (string, error) { return "", nil })
	if err != nil {
		return fmt.Errorf("--from: %w", err)
	}
	to, err := r.dial(r.to, "GUIDON_REPLAY_TO_TOKEN", r.usualToken)
	if err != nil {
		return cli.Closing(fmt.Errorf("--to: %w", err), from.Close)
	}
	r.options.From, r.options.To = from, to
	result, err := r.compare(ctx, args)
	if err = cli.Closing(cli.Closing(err, from.Close), to.Close); err != nil {
		return err
	}
	if err := r.print(result); err != nil {
		return err
	}
	return r.differences.Result(result.Different > 0)
}

func (r *replayCommand) checkUsage(args []string) error {
	limits := []struct {
		flag       string
		value      int
		least, max int
	}{
		{"--batch", r.options.Batch, 1, 500}, {"--concurrency", r.options.Concurrency, 1, 64}, {"--rate", r.options.Rate, 0, 1_000_000},
		{"--examples", r.options.Examples, 0, 100}, {"--per-flag", r.perFlag, 1, 100_000},
	}
	for _, l := range limits {
		if l.value < l.least || l.value > l.max {
			return cli.UsageError("invalid %s: must be from %d to %d, not %d", l.flag, l.least, l.max, l.value)
		}
	}
	switch {
	case r.generate == (len(args) > 0):
		return cli.UsageError("specify logs, - for the standard input, or --generate")
	case !r.generate && len(r.namespaces) > 0:
		return cli.UsageError("--namespaces requires --generate")
	case r.generate && r.skipInvalid:
		return cli.UsageError("--skip-invalid is for logs")
	case r.timeout <= 0:
		return cli.UsageError("invalid --timeout: must be positive")
	}
	return cli.CheckStreams(args...)
}

// dial returns a client for the server. usual returns the token if none is specified.
func (r *replayCommand) dial(side replaySide, variable string, usual func(address string) (string, error)) (client.Client, error) {
	d, err := r.InContext(cli.Defaults{Address: side.address}, config.ClientFrom(r.Environ))
	if err != nil {
		return nil, err
	}
	address, err := client.Normalize(d.Address)
	if err != nil {
		return nil, cli.UsageError("%w", err)
	}
	token := machine.Variable(r.Environ, variable)
	switch {
	case side.tokenFile != "":
		token, err = config.TokenFile(side.tokenFile)
	case token == "":
		token, err = usual(address)
	}
	if err != nil {
		return nil, err
	}
	return cli.Dial(d.Address, client.Options{Token: token, Timeout: r.timeout, CAFile: d.CaFile})
}

// usualToken returns the token that other commands would send to the address.
func (r *replayCommand) usualToken(address string) (string, error) {
	token, err := config.TokenFrom(r.Environ)
	if token != "" || err != nil {
		return token, err
	}
	token, err = r.StoredToken(address)
	r.Unauthenticated = "Provide tokens that permit this with --from-token-file and --to-token-file, or GUIDON_REPLAY_FROM_TOKEN and GUIDON_REPLAY_TO_TOKEN."
	return token, err
}

func (r *replayCommand) compare(ctx context.Context, args []string) (*Report, error) {
	progress := r.StartProgress("evaluating", "requests", 0)
	defer progress.Stop()
	r.options.Progress = func(count int) { progress.Add(count) }
	requests := r.logs(args)
	generator := &Generator{From: r.options.From, To: r.options.To, Namespaces: r.namespaces, PerFlag: r.perFlag}
	if r.generate {
		requests = generator.Requests(ctx)
	}
	result, err := Run(ctx, requests, r.options)
	if err != nil {
		return nil, err
	}
	if result.Evaluations == 0 {
		return nil, fmt.Errorf("nothing was compared: there are no requests")
	}
	result.SkippedLines, result.CutFlags = r.skipped, generator.Cut
	return result, nil
}

// logs returns the requests of the files.
func (r *replayCommand) logs(paths []string) iter.Seq2[Request, error] {
	return func(yield func(Request, error) bool) {
		for _, path := range paths {
			if !r.log(path, yield) {
				return
			}
		}
	}
}

// log yields the requests of a file, and reports whether to go on.
func (r *replayCommand) log(path string, yield func(Request, error) bool) bool {
	in, err := r.Open(path)
	if err != nil {
		return yield(Request{}, fmt.Errorf("%s: %w", path, cli.PlainReason(err)))
	}
	defer in.Close()
	var skip func(error)
	if r.skipInvalid {
		skip = func(error) { r.skipped++ }
	}
	for request, err := range ReadLog(cli.StreamName(path), in, skip) {
		if !yield(request, err) {
			return false
		}
	}
	return true
}
