package object

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/cmd/internal/client"
	"github.com/guidonhq/guidon/cmd/internal/command/changes"
	"github.com/guidonhq/guidon/cmd/internal/command/cli"
	"github.com/guidonhq/guidon/document"
	"github.com/guidonhq/guidon/handler/convert"
	"github.com/guidonhq/guidon/handler/wire/guidonv1"
	"github.com/guidonhq/guidon/internal/lists"
	"github.com/guidonhq/guidon/service"
)

// keyed is a kind of objects that documents have: flags or segments.
type keyed struct {
	*object
	texts    map[string]text // by verb
	complete cobra.CompletionFunc
	query    string // --query
	sort     string // --sort: key, name or newestFirst
	limit    int
	dryRun   bool
	file     string // --file

	list   func(ctx context.Context, c client.Client) (cli.Output, error)
	read   func(ctx context.Context, c client.Client, key string) (content, error)
	fields func(field cli.Field, found content)
	put    func(d *guidonv1.Document, since *int64) *guidonv1.PatchRequest // creates or replaces the object of the document
	merge  func(ctx context.Context, c client.Client, d *guidonv1.Document, since int64) (
		*guidonv1.Document, *guidonv1.MergeDetails, error)
	remove  func(edits *guidonv1.PatchRequest, key string)
	without func(d *guidonv1.Document, keys []string) // removes objects from a document

	completeQuery cobra.CompletionFunc

	everywhere func(ctx context.Context, c client.Client, key string) (cli.Output, error) // for --all-namespaces; may be nil
	all        bool                                                                       // --all-namespaces
}

// newestFirst is the value of --sort for the last change.
const newestFirst = "changed"

// text has the help of a command.
type text struct{ long, example string }

// content is an object with everything under it.
type content struct {
	document         *guidonv1.Document // that has only this object
	created, changed *timestamppb.Timestamp
	at               time.Time // of the state
	omitted          string    // why client-side SDKs do not get a flag, or ""
}

// usualVerbs returns list, get, edit and delete.
func (k *keyed) usualVerbs() []cli.Verb {
	one := cli.InOrder(k.complete)
	list := cli.Verb{
		Use: "list", Short: "List " + k.kind + "s", Names: "keys",
		Options: func(command *cobra.Command) {
			k.queryFlag(command)
			cli.Choice(command, &k.sort, "sort", "", "order by key, by name, or by the last change, the newest first",
				"key", "name", newestFirst)
			command.Flags().IntVar(&k.limit, "limit", 0, "the most "+k.kind+"s to list (default: all)")
		},
		Check: func(*cobra.Command) error {
			if k.limit < 0 {
				return cli.UsageError("--limit must not be negative")
			}
			return nil
		},
		Read: func(ctx context.Context, c client.Client, _ []string) (cli.Output, error) {
			listed, err := k.list(ctx, c)
			if err == nil && len(listed.Names) == 0 {
				err = mustExist(ctx, c, k.Namespace)
			}
			return listed, err
		},
	}
	get := cli.Verb{
		Use: "get <" + k.kind + ">", Short: "Show a " + k.kind, Names: "the key", Complete: one,
		Options: func(command *cobra.Command) {
			if k.everywhere != nil {
				command.Flags().BoolVar(&k.all, "all-namespaces", false, "show what it is in each namespace, compared with that of --namespace")
			}
		},
		Read: func(ctx context.Context, c client.Client, args []string) (cli.Output, error) {
			if k.all {
				return k.everywhere(ctx, c, args[0])
			}
			found, err := k.read(ctx, c, args[0])
			return k.output(args[0], found), err
		},
	}
	remove := k.ofSeveral(cli.Verb{Use: "delete", Short: "Delete " + k.kind + "s", Names: "the keys", Write: k.delete})
	return []cli.Verb{k.explained(list), k.explained(get), k.edit(one), k.explained(remove)}
}

// create returns the verb that creates the object that parse returns.
func (k *keyed) create(parse func(key string) (*guidonv1.Document, error), options func(command *cobra.Command)) cli.Verb {
	var created *guidonv1.Document
	return k.explained(cli.Verb{
		Use: "create <" + k.kind + ">", Short: "Create a " + k.kind, Names: "the key",
		Options: func(command *cobra.Command) {
			options(command)
			k.dryRunFlag(command)
		},
		Check: func(command *cobra.Command) (err error) {
			created, err = parse(command.Flags().Arg(0))
			return err
		},
		Write: func(ctx context.Context, c client.Client, args []string) (cli.Output, error) {
			since, err := k.revision(ctx, c)
			if err != nil {
				return cli.Output{}, err
			}
			if _, err := k.read(ctx, c, args[0]); !errors.Is(err, guidon.NotFound) {
				return cli.Output{}, k.existing(args[0], err)
			}
			if k.dryRun {
				return k.planned(ctx, c, &guidonv1.PlanRequest{Document: created}, args)
			}
			return k.save(ctx, c, k.put(created, since), args, "created")
		},
	})
}

// existing returns the error for creating an object that already exists. If reading the
// object failed with err, it returns that.
func (k *keyed) existing(key string, err error) error {
	if err != nil {
		return err
	}
	return guidon.Errorf(guidon.InvalidArgument,
		"%s %q already exists in namespace %q; \"guidon %s update\" and \"guidon %s edit\" change it",
		k.kind, key, k.Namespace, k.kind, k.kind)
}

// update returns the verb that sets fields of an object. of returns the object of a document.
func update[M any](k *keyed, all fields[M], of func(d *guidonv1.Document) M) cli.Verb {
	var given fields[M]
	return k.explained(k.ofSeveral(cli.Verb{
		Use: "update", Short: "Change fields of " + k.kind + "s", Names: "the keys", Options: all.flags,
		Check: func(command *cobra.Command) (err error) {
			given, err = all.given(command.Flags())
			return err
		},
		Write: func(ctx context.Context, c client.Client, args []string) (cli.Output, error) {
			keys, err := k.selected(ctx, c, args, "changes")
			if err != nil {
				return cli.Output{}, err
			}
			return k.rewrite(ctx, c, keys, func(d *guidonv1.Document) error { return given.set(of(d)) })
		},
	}))
}

func (k *keyed) dryRunFlag(command *cobra.Command) {
	command.Flags().BoolVar(&k.dryRun, "dry-run", false, "print what would change, and its effect, and change nothing")
}

// rewrite changes the objects with the keys by change, unless somebody else changes one of them
// meanwhile. With --dry-run it shows the plan instead.
func (k *keyed) rewrite(
	ctx context.Context, c client.Client, keys []string, change func(d *guidonv1.Document) error,
) (cli.Output, error) {
	since, err := k.revision(ctx, c)
	if err != nil {
		return cli.Output{}, err
	}
	all, edits := new(guidonv1.Document), new(guidonv1.PatchRequest)
	for _, key := range keys {
		found, err := k.read(ctx, c, key)
		if err != nil {
			return cli.Output{}, err
		}
		if err := change(found.document); err != nil {
			return cli.Output{}, err
		}
		proto.Merge(all, found.document)
		proto.Merge(edits, k.put(found.document, since))
	}
	if k.dryRun {
		return k.planned(ctx, c, &guidonv1.PlanRequest{Document: all}, keys)
	}
	return k.save(ctx, c, edits, keys, "updated")
}

// save applies the edits, which put the objects with the keys, and returns the output about these. word is
// what has been done to them.
func (k *keyed) save(
	ctx context.Context, c client.Client, edits *guidonv1.PatchRequest, keys []string, word string,
) (cli.Output, error) {
	done, err := k.patch(ctx, c, edits)
	if err != nil {
		return cli.Output{}, err
	}
	outputs := make([]cli.Output, len(keys))
	for i, key := range keys {
		found, err := k.read(ctx, c, key)
		if err != nil {
			return cli.Output{}, unread(err)
		}
		outputs[i] = k.output(key, found)
		outputs[i].Table = cli.Line("%s %s %s in %s", outcomeWord(done, key, word), k.kind, key, k.Place())
	}
	return k.together(outputs), nil
}

// unread returns the error of reading what has been changed.
func unread(err error) error {
	return fmt.Errorf("the change was made, but its result cannot be read: %w", err)
}

// planned returns the output of --dry-run: what the request would change, and its effects.
func (k *keyed) planned(ctx context.Context, c client.Client, request *guidonv1.PlanRequest, keys []string) (cli.Output, error) {
	plan, err := k.plan(ctx, c, request)
	return cli.Output{
		Data: cli.DataOf(plan), Names: keys,
		Table: func(out io.Writer) error {
			changes.PrintPlan(out, plan)
			return nil
		},
	}, err
}

// plan returns the plan of a request that has a document, with its effects.
func (k *keyed) plan(ctx context.Context, c client.Client, request *guidonv1.PlanRequest) (*guidonv1.PlanResponse, error) {
	request.NamespaceKey, request.WithEffects = k.Namespace, true
	return cli.Call[guidonv1.PlanResponse](ctx, c, "/guidon.v1.PlanService/Plan", request)
}

func (k *keyed) delete(ctx context.Context, c client.Client, args []string) (cli.Output, error) {
	keys, err := k.selected(ctx, c, args, "deletes")
	if err != nil {
		return cli.Output{}, err
	}
	edits := new(guidonv1.PatchRequest)
	for _, key := range keys {
		if _, err := k.read(ctx, c, key); err != nil {
			return cli.Output{}, err
		}
		k.remove(edits, key)
	}
	if k.dryRun {
		d, err := cli.Call[guidonv1.Document](ctx, c, "/guidon.v1.DocumentService/Export", &guidonv1.ExportRequest{NamespaceKey: k.Namespace})
		if err != nil {
			return cli.Output{}, err
		}
		k.without(d, keys)
		return k.planned(ctx, c, &guidonv1.PlanRequest{Document: d, Mode: guidonv1.PlanMode_REPLACE_PLAN_MODE}, keys)
	}
	if len(args) > 0 {
		question := fmt.Sprintf("This deletes in %s: %s %s\n", k.Place(), k.kind, strings.Join(keys, ", "))
		if err := k.Confirm(question); err != nil {
			return cli.Output{}, err
		}
	}
	done, err := k.patch(ctx, c, edits)
	return cli.Output{
		Data: cli.DataOf(done), Names: keys,
		Table: cli.Text("%s", strings.Join(lists.Map(keys, func(key string) string {
			return fmt.Sprintf("deleted %s %s from %s\n", k.kind, key, k.Place())
		}), "")),
	}, err
}

// explained returns the verb with its help.
func (k *keyed) explained(v cli.Verb) cli.Verb {
	name, _, _ := strings.Cut(v.Use, " ")
	v.Long, v.Example = k.texts[name].long, k.texts[name].example
	return v
}

// output returns the output about one object.
func (k *keyed) output(key string, found content) cli.Output {
	return cli.Output{
		Names: []string{key},
		Data:  func() ([]byte, error) { return found.data(k.Namespace) },
		Table: cli.Fields(func(field cli.Field) { k.fields(field, found) }),
	}
}

// stamps are the fields in the data of an object that import files do not have.
type stamps struct {
	NamespaceKey string    `json:"namespaceKey,omitempty"`
	CreatedAt    time.Time `json:"createdAt,omitzero"`
	UpdatedAt    time.Time `json:"updatedAt,omitzero"`
}

// data returns the JSON of the object in the form of import files, with the stamps after its
// own fields.
func (c content) data(namespace string) ([]byte, error) {
	var text bytes.Buffer
	if err := document.Encode(&text, document.JSON, []*service.Document{convert.DocumentOf(c.document)}); err != nil {
		return nil, err
	}
	var encoded struct{ Flags, Segments []json.RawMessage }
	if err := json.Unmarshal(text.Bytes(), &encoded); err != nil {
		return nil, err
	}
	stamped, err := json.Marshal(stamps{namespace, cli.Instant(c.created), cli.Instant(c.changed)})
	if err != nil {
		return nil, err
	}
	object := bytes.TrimSpace(append(encoded.Flags, encoded.Segments...)[0])
	return bytes.Join([][]byte{object[:len(object)-1], stamped[1:]}, []byte(",")), nil
}

// revision returns the revision of the namespace before anything else is read, so that a
// write can be rejected if the object is changed meanwhile.
func (k *keyed) revision(ctx context.Context, c client.Client) (*int64, error) {
	newest, err := cli.NewestChange(ctx, c, k.Namespace)
	revision := newest.GetRevision()
	return &revision, err
}

// changedMeanwhile adds a hint to the error of a write that was rejected because the object
// has changed since it was read.
func changedMeanwhile(err error) error {
	if cli.HasChanged(err) {
		return fmt.Errorf("%w; nothing was changed: run the command again", err)
	}
	return err
}

// patch applies the edits, all of them or none.
func (k *keyed) patch(
	ctx context.Context, c client.Client, edits *guidonv1.PatchRequest,
) (*guidonv1.EditResponse, error) {
	edits.NamespaceKey = k.Namespace
	done, err := cli.Call[guidonv1.EditResponse](ctx, c, "/guidon.v1.EditService/Patch", edits)
	return done, changedMeanwhile(err)
}

// outcomeWord returns the word for the action, or says that nothing was done to the object.
func outcomeWord(done *guidonv1.EditResponse, key, word string) string {
	if !slices.ContainsFunc(done.GetChanges(), func(o *guidonv1.EditedObject) bool { return o.GetKey() == key }) {
		return "nothing to do for"
	}
	return word
}
