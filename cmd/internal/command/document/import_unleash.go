package document

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"time"

	"github.com/spf13/cobra"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/cmd/internal/command/cli"
	"github.com/guidonhq/guidon/cmd/internal/config"
	"github.com/guidonhq/guidon/cmd/internal/machine"
	"github.com/guidonhq/guidon/document"
	"github.com/guidonhq/guidon/document/unleash"
	"github.com/guidonhq/guidon/handler/convert"
	"github.com/guidonhq/guidon/internal/lists"
	"github.com/guidonhq/guidon/service"
)

// unleashSource is what to import from Unleash, and how.
type unleashSource struct {
	from        string
	url         string // of the API, instead of a file
	tokenFile   string
	environment string
	users       int // to verify each flag
	out         string
}

const defaultVerifiedUsers = 100_000

func (u *unleashSource) flags(command *cobra.Command) {
	flags := command.Flags()
	cli.Choice(command, &u.from, "from", "", "the product that the flags are from", "unleash")
	flags.StringVar(&u.url, "url", "", "read the features from the API of Unleash at this `URL`, such as https://unleash.example/api")
	flags.StringVar(&u.tokenFile, "url-token-file", "", "`file` with the token for that URL (default: UNLEASH_TOKEN)")
	flags.StringVar(&u.environment, "environment", "", "`name` of the one environment to import, or of that of the URL")
	flags.IntVar(&u.users, "verify", defaultVerifiedUsers, "compare the answers for this `number` of generated users for each flag")
	flags.StringVar(&u.out, "out", "", "write the flags of Unleash to this `file` instead of importing them")
	for _, name := range []string{"from", "url", "url-token-file", "environment", "verify", "out"} {
		command.MarkFlagsMutuallyExclusive(name, "from-flipt-database")
	}
	for _, name := range []string{"skip-existing", "update", "drop", "dry-run"} {
		command.MarkFlagsMutuallyExclusive("out", name)
	}
}

func (u *unleashSource) chosen() bool { return u.from != "" }

// check returns an error for arguments and flags that cannot be combined.
func (u *unleashSource) check(paths []string) error {
	switch {
	case !u.chosen() && (u.url != "" || u.tokenFile != "" || u.environment != "" || u.users != defaultVerifiedUsers || u.out != ""):
		return cli.UsageError("--url, --url-token-file, --environment, --verify and --out can be combined only with --from unleash")
	case !u.chosen():
		return cli.CheckFiles(paths)
	case u.users < 1 || u.users > 100*defaultVerifiedUsers:
		return cli.UsageError("--verify must be between 1 and 10000000")
	case u.url == "" && u.tokenFile != "":
		return cli.UsageError("--url-token-file requires --url")
	case u.url == "" && len(paths) != 1 || u.url != "" && len(paths) != 0:
		return cli.UsageError("--from unleash needs one file, - for the standard input, or --url")
	}
	return nil
}

// readUnleash returns the environments as documents. It prints which features they omit, and
// returns an error if a generated user has another answer.
func (i *importCommand) readUnleash(ctx context.Context, paths []string) ([]cli.FileDocument, error) {
	source, text, err := i.unleashText(ctx, paths)
	if err != nil {
		return nil, err
	}
	environments, err := unleash.Read(text)
	if err == nil {
		environments, err = i.unleash.choose(environments)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", source, err)
	}
	var all []cli.FileDocument
	different := 0
	for _, e := range environments {
		d, n, err := i.translate(ctx, e)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", source, err)
		}
		different += n
		all = append(all, cli.FileDocument{Path: source, Wire: convert.TakeDocument(d)})
	}
	if different > 0 {
		return nil, fmt.Errorf("nothing was imported: %d evaluations differ from Unleash (listed above)", different)
	}
	return all, nil
}

// choose returns the environments to import.
func (u *unleashSource) choose(all []*unleash.Environment) ([]*unleash.Environment, error) {
	if u.environment == "" {
		return all, nil
	}
	var names []string
	for _, e := range all {
		if e.Name = cmp.Or(e.Name, u.environment); e.Name == u.environment {
			return []*unleash.Environment{e}, nil
		}
		names = append(names, e.Name)
	}
	return nil, fmt.Errorf("there is no environment %s, only %s", guidon.Quote(u.environment), cli.JoinWords(names, "and"))
}

// translate returns the document of an environment, and how many evaluations differ. It prints
// what was left out and compared.
func (i *importCommand) translate(ctx context.Context, e *unleash.Environment) (d *service.Document, different int, err error) {
	d, omissions := e.Document()
	for _, o := range omissions {
		fmt.Fprintf(i.Err, "%s/%s: left out: %s\n", d.Namespace.Key, o.Feature, o.Reason)
	}
	progress := i.StartProgress("verifying", "users", len(d.Flags)*i.unleash.users)
	v, err := e.Verify(ctx, d, i.unleash.users, i.Now(), progress.Add)
	progress.Stop()
	if err != nil {
		return nil, 0, err
	}
	for _, x := range v.Differences {
		content, err := json.Marshal(x)
		if err != nil {
			return nil, 0, err
		}
		fmt.Fprintf(i.Err, "%s/%s: different: %s\n", d.Namespace.Key, x.Flag, content)
	}
	fmt.Fprintf(i.Err, "%s: %d flags, %d segments, %d left out; %d evaluations, %d different from Unleash\n",
		d.Namespace.Key, len(d.Flags), len(d.Segments), len(omissions), v.Evaluations, v.Different)
	return d, v.Different, nil
}

// writeUnleash writes the documents to the file.
func (i *importCommand) writeUnleash(all []cli.FileDocument) error {
	format := document.YAML
	if i.unleash.out != cli.StandardStream {
		var err error
		if format, err = document.FormatOf(i.unleash.out); err != nil {
			return err
		}
	}
	documents := lists.Map(all, func(d cli.FileDocument) *service.Document { return convert.DocumentOfTaken(d.Wire) })
	return i.WriteAll(i.unleash.out, func(out io.Writer) error { return document.Encode(out, format, documents) })
}

// unleashText returns the text of the features, and where it is from.
func (i *importCommand) unleashText(ctx context.Context, paths []string) (source string, text []byte, err error) {
	if i.unleash.url == "" {
		text, err = i.ReadInput(paths[0], unleash.MaxInput)
		return cli.StreamName(paths[0]), text, err
	}
	u, err := url.Parse(i.unleash.url)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" || u.User != nil || u.RawQuery != "" || u.Fragment != "" {
		return "", nil, cli.UsageError("invalid --url: must have the form https://unleash.example/api, without user, query or fragment; " +
			"the token is a separate option")
	}
	token := machine.Variable(i.Environ, "UNLEASH_TOKEN")
	if i.unleash.tokenFile != "" {
		if token, err = config.TokenFile(i.unleash.tokenFile); err != nil {
			return "", nil, err
		}
	}
	if token == "" {
		return "", nil, cli.UsageError("--url needs a client token of Unleash, in UNLEASH_TOKEN or --url-token-file")
	}
	target := u.JoinPath("client", "features").String()
	if text, err = fetchFeatures(ctx, target, token); err != nil {
		err = fmt.Errorf("cannot read %s: %w", target, err)
	}
	return target, text, err
}

// fetchFeatures requests the features once.
func fetchFeatures(ctx context.Context, target, token string) ([]byte, error) {
	client := http.Client{
		Timeout:       time.Minute,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }, // which would get the token
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, target, nil)
	if err != nil {
		return nil, err
	}
	request.Header.Set("Authorization", token)
	request.Header.Set("Accept", "application/json")
	response, err := client.Do(request)
	if err != nil {
		return nil, errors.Unwrap(err) // without the URL, which the caller adds
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("unexpected response %s; the URL must be that of the API, and the token one for clients", response.Status)
	}
	text, err := io.ReadAll(io.LimitReader(response.Body, unleash.MaxInput+1))
	if err == nil && len(text) > unleash.MaxInput {
		err = fmt.Errorf("the response is larger than %d MiB", unleash.MaxInput>>20)
	}
	return text, err
}
