package object

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/guidonhq/guidon/change"
	"github.com/guidonhq/guidon/cmd/internal/client"
	"github.com/guidonhq/guidon/cmd/internal/command/cli"
	"github.com/guidonhq/guidon/handler/convert"
	"github.com/guidonhq/guidon/handler/wire/flipt"
	"github.com/guidonhq/guidon/handler/wire/guidonv1"
	"github.com/guidonhq/guidon/service"
)

const flagHelp = `Work with single flags of a namespace.

A boolean flag is on or off, which programs get as true or false: its rules decide in
order, and its default value, "enabled", is for those whom none matches. A variant flag
answers with one of its variants, which its rules distribute; while its state is off, which
is also "enabled", everybody gets the default variant, or none.`

var flagTexts = map[string]text{
	"list": {`List the flags of a namespace.

--query selects those that contain all of its words in key, name, description or
metadata. It takes terms too: type:boolean, is:on, is:off, is:partly, is:unused,
owner:ada, tag:web, segment:beta-users, key:pay-, and needs:guidon/1 for flags that
Flipt does not understand.` + orEarlier,
		`  guidon flag list
  guidon flag list -n shop --query 'is:off owner:ada'
  guidon flag list -o json | jq -r '.[] | select(.stepCount == 0) | .key'
  guidon flag list -o name`},
	"get": {`Show a flag with its variants, and its rules. As JSON and YAML it has the
fields of import files, and the times of its creation and last change.` + orEarlier + `

With --all-namespaces, list what the flag does in each namespace that you may view, and
whether it is the same as in this one.`,
		`  guidon flag get new-checkout
  guidon flag get new-checkout -n production --all-namespaces
  guidon flag get price-test -n shop -o yaml
  guidon flag get new-checkout -o json | jq .enabled`},
	"create": {`Create a flag. It is a boolean flag, or a variant flag if there are variants.

Without --enabled, a boolean flag is off for everybody, and a variant flag gives
everybody the default variant, or none. "guidon flag rollout" turns it on for some.`,
		`  guidon flag create new-checkout
  guidon flag create new-checkout --name "New checkout" --enabled -m "for the beta"
  guidon flag create payment-methods --variant classic --variant nordics --default-variant classic
  guidon flag create new-checkout --metadata owner=ada --metadata 'tags=["web","payments"]'`},
	"update": {`Change fields of a flag. What is not given stays as it is. "guidon flag rollout" and
"guidon flag rule" change rules, "guidon flag edit" everything.

To switch a flag for everybody, use "guidon flag on" and "guidon flag off": --enabled only
sets what a boolean flag is for those whom no rule matches.

If somebody changes the flag at the same time, nothing is changed.`,
		`  guidon flag update new-checkout --name "New checkout" --metadata owner=grace
  guidon flag update payment-methods --default-variant classic -m "after the incident"
  guidon flag update new-invoices --requires new-api`},
	"delete": {`Delete flags, all of them or none. It asks for confirmation. "guidon undo" brings them
back.`,
		`  guidon flag delete old-checkout
  guidon flag delete old-checkout older-checkout --yes -m "all users have the new one"`},
}

func flags(p *cli.Program) *object {
	o := &object{Task: &cli.Task{Program: p}, kind: "flag", group: "flags"}
	o.short, o.long, o.aliases = "List, create, change, switch and delete flags", flagHelp, []string{"flags"}
	k := &keyed{object: o, texts: flagTexts, complete: p.CompleteFlags, completeQuery: p.CompleteFlagQuery, fields: flagLines}
	k.list = func(ctx context.Context, c client.Client) (cli.Output, error) {
		if err := service.CheckTerms(k.query); err != nil {
			return cli.Output{}, fmt.Errorf("--query: %w", err)
		}
		all, err := cli.AllFlags(ctx, c, &guidonv1.ListFlagSummariesRequest{
			NamespaceKey: k.Namespace, Query: k.query, Sort: flagOrders[k.sort], Descending: k.sort == newestFirst,
		}, k.limit)
		return listedFlags(all), err
	}
	k.read = func(ctx context.Context, c client.Client, key string) (content, error) {
		found, err := cli.Call[guidonv1.FlagContent](ctx, c, "/guidon.v1.EditService/GetFlagContent",
			&guidonv1.GetFlagContentRequest{NamespaceKey: k.Namespace, Key: key})
		d := &guidonv1.Document{Flags: []*guidonv1.DocumentFlag{found.GetFlag()}}
		return content{d, found.GetCreatedAt(), found.GetUpdatedAt(), k.instant(), found.GetOmitted()}, err
	}
	k.put = func(d *guidonv1.Document, since *int64) *guidonv1.PatchRequest {
		return &guidonv1.PatchRequest{Flags: []*guidonv1.FlagEdit{{Put: flagOf(d), UnlessChangedSince: since}}}
	}
	k.merge = func(ctx context.Context, c client.Client, d *guidonv1.Document, since int64) (
		*guidonv1.Document, *guidonv1.MergeDetails, error,
	) {
		m, err := cli.Call[guidonv1.FlagMerge](ctx, c, "/guidon.v1.EditService/MergeFlag", &guidonv1.MergeFlagRequest{
			NamespaceKey: k.Namespace, Key: flagOf(d).GetKey(), Since: since, Flag: flagOf(d), PageWords: true,
		})
		return &guidonv1.Document{Flags: []*guidonv1.DocumentFlag{m.GetFlag()}}, m.GetDetails(), err
	}
	k.without = func(d *guidonv1.Document, keys []string) {
		d.Flags = slices.DeleteFunc(d.Flags, func(f *guidonv1.DocumentFlag) bool { return slices.Contains(keys, f.GetKey()) })
	}
	k.remove = func(edits *guidonv1.PatchRequest, key string) {
		edits.Flags = append(edits.Flags, &guidonv1.FlagEdit{Delete: key})
	}
	k.everywhere = k.flagNamespaces
	creation := &flagCreation{fields: flagFields(p)}
	o.verbs = append(k.usualVerbs(), k.create(creation.parse, creation.options), update(k, flagFields(p), flagOf),
		flagOn(k), flagOff(k), flagReach(o, k.complete), flagTimeline(o, k.complete), flagUsage(o, k.complete))
	o.verbs = append(o.verbs, flagRules(k)...)
	return o
}

// instant returns the time of the state that is read: now, unless the namespace says another one.
func (o *object) instant() time.Time {
	if state, err := service.ParseReference(o.Namespace); err == nil && !state.At.Time.IsZero() {
		return state.At.Time
	}
	return o.Now()
}

// flagOrders are the values of --sort.
var flagOrders = map[string]guidonv1.FlagSort{
	"": guidonv1.FlagSort_KEY_FLAG_SORT, "key": guidonv1.FlagSort_KEY_FLAG_SORT,
	"name": guidonv1.FlagSort_NAME_FLAG_SORT, newestFirst: guidonv1.FlagSort_CHANGED_FLAG_SORT,
}

func flagOf(d *guidonv1.Document) *guidonv1.DocumentFlag { return d.GetFlags()[0] }

func listedFlags(all []*guidonv1.FlagSummary) cli.Output {
	const header = "KEY\tNAME\tTYPE\tSTATE\tRULES\tOWNER\tCHANGED"
	return cli.List(all, (*guidonv1.FlagSummary).GetKey, header, func(f *guidonv1.FlagSummary) []any {
		return []any{f.GetKey(), f.GetName(), cli.FlagKind(f.GetType()), cli.OnOff(stateWord(f.GetState())),
			f.GetStepCount(), cli.OrDash(f.GetOwner()), cli.When(f.GetUpdatedAt())}
	})
}

// stateWord returns the state of a flag in one word: on, off or partly.
func stateWord(state guidonv1.FlagState) string {
	return strings.ToLower(strings.TrimSuffix(state.String(), "_FLAG_STATE"))
}

// stateRow returns the word for what "enabled" is: the default value of a boolean flag, or the
// state of a variant flag.
func stateRow(kind flipt.FlagType) string {
	if kind == flipt.FlagType_BOOLEAN_FLAG_TYPE {
		return "DEFAULT VALUE"
	}
	return "STATE"
}

// flagFields are the fields of a flag that the command line sets.
func flagFields(p *cli.Program) fields[*guidonv1.DocumentFlag] {
	type flag = *guidonv1.DocumentFlag
	var metadata, requires []string
	return fields[flag]{
		textField("name", "the name for people (default: the key)", func(f flag, name string) { f.Name = name }),
		textField("description", "what the flag is for", func(f flag, text string) { f.Description = text }),
		boolField("enabled", "the default value of a boolean flag, or the state of a variant flag", func(f flag, enabled bool) { f.Enabled = enabled }),
		checkedField("default-variant", "", "`key` of the variant for those whom no rule gives one; empty for none",
			setDefaultVariant),
		{
			option: "metadata",
			add: func(flags *pflag.FlagSet) {
				flags.StringArrayVar(&metadata, "metadata", nil,
					"a `key=value`, which may be JSON; an empty value removes the key; may be repeated")
			},
			set: func(f flag) error { return setMetadata(f, metadata) },
		},
		{
			option: "requires", complete: p.CompleteFlags,
			add: func(flags *pflag.FlagSet) {
				flags.StringArrayVar(&requires, "requires", nil,
					"a `flag` that must be on, or else this one is off; or flag=variant,variant; empty for none; may be repeated")
			},
			set: func(f flag) (err error) {
				given := slices.DeleteFunc(slices.Clone(requires), func(text string) bool { return text == "" })
				f.Requires, err = parseRequirements(given)
				return err
			},
		},
	}
}

// flagCreation is what "flag create" creates.
type flagCreation struct {
	kind     string
	variants []string
	fields   fields[*guidonv1.DocumentFlag]
}

func (c *flagCreation) options(command *cobra.Command) {
	c.fields.flags(command)
	command.Flags().StringVar(&c.kind, "type", "", "boolean or variant (default boolean, or variant with --variant)")
	_ = command.RegisterFlagCompletionFunc("type", cli.CompleteWords("boolean", "variant")) // the flag exists
	command.Flags().StringArrayVar(&c.variants, "variant", nil,
		"`key` of a variant, or key=attachment with any JSON; may be repeated")
}

func (c *flagCreation) parse(key string) (*guidonv1.Document, error) {
	flag := &guidonv1.DocumentFlag{Key: key, Type: flipt.FlagType_BOOLEAN_FLAG_TYPE}
	if c.kind == "variant" || c.kind == "" && len(c.variants) > 0 {
		flag.Type = flipt.FlagType_VARIANT_FLAG_TYPE
	}
	switch {
	case c.kind != "" && c.kind != "boolean" && c.kind != "variant":
		return nil, cli.UsageError("invalid --type %q: must be boolean or variant", c.kind)
	case c.kind == "boolean" && len(c.variants) > 0:
		return nil, cli.UsageError("a boolean flag has no variants: leave out --variant, or use --type variant")
	}
	for _, text := range c.variants {
		key, attachment, _ := strings.Cut(text, "=")
		if key == "" {
			return nil, cli.UsageError("invalid --variant %q: must be a key, or key=attachment", text)
		}
		flag.Variants = append(flag.Variants, &guidonv1.DocumentVariant{Key: key, Name: key, Attachment: attachment})
	}
	err := c.fields.set(flag)
	if flag.GetName() == "" {
		flag.Name = key
	}
	return &guidonv1.Document{Flags: []*guidonv1.DocumentFlag{flag}}, err
}

func flagLines(field cli.Field, found content) {
	f := flagOf(found.document)
	field("KEY", f.GetKey())
	field("NAME", f.GetName())
	field("DESCRIPTION", cli.OrDash(f.GetDescription()))
	field("TYPE", cli.FlagKind(f.GetType()))
	field(stateRow(f.GetType()), cli.OnOff(change.OnOff(f.GetEnabled())))
	if len(f.GetRequires()) > 0 {
		field("NEEDS", change.RequirementsWords(convert.RequirementsOf(f.GetRequires()), "to be"))
	}
	field("METADATA", cli.OrDash(f.GetMetadata()))
	field("CREATED", cli.When(found.created))
	field("CHANGED", cli.When(found.changed))
	for _, v := range f.GetVariants() {
		field("VARIANT", variantLine(v))
	}
	for i, line := range ruleLines(f, found.at) {
		field(fmt.Sprintf("RULE %d", i+1), line)
	}
	if found.omitted != "" {
		field("CLIENT-SIDE SDKS", "do not get this flag: "+cli.Printable(found.omitted))
	}
}
