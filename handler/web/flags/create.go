package flags

import (
	"cmp"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/handler/web/page"
	"github.com/guidonhq/guidon/handler/web/part"
	"github.com/guidonhq/guidon/handler/wire/flipt"
	"github.com/guidonhq/guidon/handler/wire/guidonv1"
	"github.com/guidonhq/guidon/internal/lists"
	"github.com/guidonhq/guidon/service"
)

// newFlag is the model of the page for a new flag.
type newFlag struct {
	Variant       bool
	Name, Key     string
	Description   string
	Owner, Review string
	Tags          string // separated by commas
	Metadata      []page.MetadataRow
	Variants      []newVariant
	Problems      part.Problems
	Existing      *part.Link // the flag with the same key
	Proposed      string     // a key that is allowed
	Owners        []string
	KnownTags     []string
	focus         string // the id of the field to begin with
}

// newVariant is a variant of a new flag.
type newVariant struct{ Key, Name string }

// maxParts limits the variants and the rows of metadata of the form.
const maxParts = 100

// showNew shows the page for a new flag.
func showNew(v *page.Visit) error {
	if !v.MayEdit() {
		return service.Refusal(service.RoleEditor, v.Key())
	}
	n := &newFlag{Variant: v.Query().Get("type") == "variant", Name: v.Query().Get("name"), focus: "name"}
	n.Variants = []newVariant{{}, {}}
	return n.reply(v, http.StatusOK)
}

// createFlag changes the draft of a new flag, or creates the flag.
func createFlag(v *page.Visit, form url.Values) error {
	n := newFlagOf(form)
	switch action := page.ActionOf(form); action.Verb {
	case "", "save", "another":
		return n.create(v, action.Verb == "another")
	default:
		n.change(action)
	}
	return n.reply(v, http.StatusOK)
}

// newFlagOf returns the fields of the form.
func newFlagOf(form url.Values) *newFlag {
	n := &newFlag{
		Variant: form.Get("type") == "variant", Name: strings.TrimSpace(form.Get("name")), Key: strings.TrimSpace(form.Get("key")),
		Description: strings.TrimSpace(form.Get("description")), Owner: strings.TrimSpace(form.Get("owner")),
		Review: strings.TrimSpace(form.Get("review")), Tags: form.Get("tags"),
	}
	for i := range maxParts {
		key, value := fmt.Sprintf("metadata.%d.key", i), fmt.Sprintf("metadata.%d.value", i)
		if !form.Has(key) {
			break
		}
		n.Metadata = append(n.Metadata, page.MetadataRow{Key: strings.TrimSpace(form.Get(key)), Value: form.Get(value)})
	}
	for i := range maxParts {
		key, name := fmt.Sprintf("variant.%d.key", i), fmt.Sprintf("variant.%d.name", i)
		if !form.Has(key) {
			break
		}
		n.Variants = append(n.Variants, newVariant{strings.TrimSpace(form.Get(key)), strings.TrimSpace(form.Get(name))})
	}
	return n
}

// change runs the action of a button of the draft.
func (n *newFlag) change(a page.Action) {
	switch a.Verb {
	case "add-metadata":
		if len(n.Metadata) < maxParts {
			n.Metadata = append(n.Metadata, page.MetadataRow{})
			n.focus = fmt.Sprintf("metadata.%d.key", len(n.Metadata)-1)
		}
	case "remove-metadata":
		if i, ok := a.Index(0, len(n.Metadata)); ok {
			n.Metadata = append(n.Metadata[:i:i], n.Metadata[i+1:]...)
		}
	case "add-variant":
		if len(n.Variants) < maxParts {
			n.Variants = append(n.Variants, newVariant{})
			n.focus = fmt.Sprintf("variant.%d.key", len(n.Variants)-1)
		}
	case "remove-variant":
		if i, ok := a.Index(0, len(n.Variants)); ok {
			n.Variants = append(n.Variants[:i:i], n.Variants[i+1:]...)
		}
	case "type":
		n.Variant = a.Text(0) == "variant"
		if n.Variant && len(n.Variants) == 0 {
			n.Variants = []newVariant{{}, {}}
		}
	case "use":
		n.Key = a.Text(0)
	}
}

// create creates the flag and redirects to its page or, for another one, to an empty form.
func (n *newFlag) create(v *page.Visit, another bool) error {
	flag := n.check()
	if len(n.Problems) > 0 {
		return n.reply(v, http.StatusUnprocessableEntity)
	}
	existing, state, err := page.GetFlagContent.RunAt(v, &guidonv1.GetFlagContentRequest{NamespaceKey: v.Key(), Key: n.Key})
	switch {
	case err == nil:
		return n.taken(v, existing.GetFlag())
	case !errors.Is(err, guidon.NotFound):
		return err
	}
	edited, err := page.ReplaceFlag.Run(v, &guidonv1.ReplaceFlagRequest{
		NamespaceKey: v.Key(), Key: n.Key, Flag: flag, UnlessChangedSince: &state.Revision,
	})
	switch guidon.CodeOf(err) {
	case guidon.FailedPrecondition: // another user has just created it
		return n.taken(v, flag)
	case guidon.InvalidArgument:
		n.Problems.Add("name", page.Sentence(guidon.PublicMessage(err)))
		return n.reply(v, http.StatusUnprocessableEntity)
	}
	if err != nil {
		return err
	}
	to := page.Below("namespaces", v.Key(), "flags", n.Key)
	if another {
		to = page.Below("namespaces", v.Key(), "new-flag")
	}
	return v.Redirect(fmt.Sprintf("%s?saved=%d", to, edited.GetRevision()))
}

// taken responds with the page again, because there is a flag with the key.
func (n *newFlag) taken(v *page.Visit, existing *guidonv1.DocumentFlag) error {
	n.Existing = &part.Link{Text: existing.GetName(), Address: v.In("flags", n.Key)}
	n.Problems.Add("key",
		fmt.Sprintf("%s has a flag %s with this key. Open it or take another key.", page.NamespaceName(v.Namespace), existing.GetName()))
	return n.reply(v, http.StatusUnprocessableEntity)
}

// check returns the flag, and adds its problems.
func (n *newFlag) check() *guidonv1.DocumentFlag {
	if n.Name == "" {
		n.Problems.Add("name", "A name is needed.")
	}
	n.Key = cmp.Or(n.Key, page.Slug(n.Name))
	n.checkKey()
	flag := &guidonv1.DocumentFlag{
		Key: n.Key, Name: n.Name, Description: n.Description, Type: flipt.FlagType_BOOLEAN_FLAG_TYPE, Metadata: n.checkMetadata(),
	}
	if n.Variant {
		flag.Type = flipt.FlagType_VARIANT_FLAG_TYPE
		flag.Variants = n.checkVariants()
	}
	return flag
}

func (n *newFlag) checkKey() {
	problem, better := page.CheckKey(n.Key)
	if n.Key == "" && n.Name != "" {
		problem = "A key is needed: nothing of the name can be part of one."
	}
	n.Proposed = better
	n.Problems.Add("key", problem)
}

// checkMetadata returns the metadata: the owner, the review date, the tags and the rows.
func (n *newFlag) checkMetadata() string {
	var rows []page.MetadataRow
	if n.Owner != "" {
		rows = append(rows, page.MetadataRow{Key: "owner", Value: page.JSONText(n.Owner)})
	}
	if n.Review != "" {
		if _, err := time.Parse(time.DateOnly, n.Review); err != nil {
			n.Problems.Add("review", "Write a date such as 2027-03-01.")
		}
		rows = append(rows, page.MetadataRow{Key: "review", Value: page.JSONText(n.Review)})
	}
	before := len(rows)
	object := page.MetadataObject(append(rows, n.Metadata...), func(row int, message string) {
		n.Problems.Add(fmt.Sprintf("metadata.%d.value", row-before), message)
	})
	for tag := range strings.SplitSeq(n.Tags, ",") {
		if tag = strings.TrimSpace(tag); tag == "" {
			continue
		}
		if problem := checkTag(tag); problem != "" {
			n.Problems.Add("tags", problem)
			break
		}
		if object = page.WithTag(object, tag); object == "" {
			n.Problems.Add("tags", "The metadata below have tags that are not a list of texts.")
			break
		}
	}
	return object
}

func (n *newFlag) checkVariants() []*guidonv1.DocumentVariant {
	var variants []*guidonv1.DocumentVariant
	seen := make(map[string]bool)
	for i, variant := range n.Variants {
		field := fmt.Sprintf("variant.%d.key", i)
		if variant.Key == "" && variant.Name != "" {
			variant.Key = page.Slug(variant.Name)
		}
		if variant.Key == "" {
			continue
		}
		n.Problems.Add(field, page.TooLong(variant.Key, page.MaxText))
		if seen[variant.Key] {
			n.Problems.Add(field, fmt.Sprintf("The key %s is there twice.", variant.Key))
		}
		seen[variant.Key] = true
		variants = append(variants, &guidonv1.DocumentVariant{Key: variant.Key, Name: variant.Name})
	}
	return variants
}

// reply responds with the page.
func (n *newFlag) reply(v *page.Visit, status int) error {
	n.Owners, n.KnownTags = owners(v), tags(v)
	return v.Reply(status, page.Page{
		Title: "New flag", Place: page.PlaceFlags, Crumbs: []page.Crumb{{Text: "Flags", Address: v.In("flags")}, {Text: "New flag"}},
		Main: newMain(v, n), Modules: []string{"draft.js"},
	})
}

// owners returns the owners that flags of the namespace have, for the field.
func owners(v *page.Visit) []string {
	names := lists.Map(facets(v).GetOwners(), (*guidonv1.FacetCount).GetValue)
	return slices.DeleteFunc(names, func(name string) bool { return name == "" })
}

// facets returns the owners and tags that flags of the namespace have, which fields propose.
// If they cannot be read, the fields work without.
func facets(v *page.Visit) *guidonv1.FlagFacets {
	found, err := page.ListFlagSummaries.Run(v, &guidonv1.ListFlagSummariesRequest{NamespaceKey: v.Key(), Limit: 1})
	if err != nil {
		return nil
	}
	return found.GetFacets()
}
