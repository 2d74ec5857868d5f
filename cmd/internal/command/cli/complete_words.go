package cli

import (
	"context"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/guidonhq/guidon/cmd/internal/client"
	"github.com/guidonhq/guidon/handler/wire/guidonv1"
	"github.com/guidonhq/guidon/internal/lists"
	"github.com/guidonhq/guidon/service"
)

// unfinished are the directives for offers to which a value must be added.
const unfinished = cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveNoSpace

// CompleteFlagQuery offers terms for the last word of a query of flags.
func (p *Program) CompleteFlagQuery(command *cobra.Command, _ []string, text string) ([]string, cobra.ShellCompDirective) {
	before := text[:strings.LastIndex(text, " ")+1]
	offers, _ := p.offer(command, nil, text, func(ctx context.Context, c client.Client, namespace string) ([]offer, error) {
		flags, err := AllFlags(ctx, c, &guidonv1.ListFlagSummariesRequest{NamespaceKey: namespace}, maxCompletions)
		terms := service.TermsOfFlags()
		for _, f := range flags {
			for _, tag := range f.GetTags() {
				terms = append(terms, "tag:"+tag)
			}
			if f.GetOwner() != "" {
				terms = append(terms, "owner:"+f.GetOwner())
			}
		}
		terms = slices.DeleteFunc(lists.Distinct(terms), func(term string) bool { return strings.Contains(term, " ") })
		return lists.Map(terms, func(term string) offer { return offer{before + term, before + term} }), err
	})
	return offers, unfinished
}

// CompleteProperties offers the properties of constraints, followed by end.
func (p *Program) CompleteProperties(end string) cobra.CompletionFunc {
	return func(command *cobra.Command, _ []string, word string) ([]string, cobra.ShellCompDirective) {
		offers, _ := p.offer(command, []string{end}, word, func(ctx context.Context, c client.Client, namespace string) ([]offer, error) {
			found, err := Call[guidonv1.PropertyList](ctx, c, "/guidon.v1.CatalogService/ListProperties",
				&guidonv1.ListPropertiesRequest{NamespaceKey: namespace, Prefix: word})
			return lists.Map(found.GetProperties(), func(property *guidonv1.Property) offer {
				return offer{property.GetName() + end, property.GetName() + end}
			}), err
		})
		return offers, unfinished
	}
}

// CompleteRevisions offers the newest revisions, each with who changed what.
func (p *Program) CompleteRevisions(command *cobra.Command, _ []string, word string) ([]string, cobra.ShellCompDirective) {
	offers, directive := p.offer(command, nil, word, func(ctx context.Context, c client.Client, namespace string) ([]offer, error) {
		return newestRevisions(ctx, c, namespace, "")
	})
	return offers, directive | cobra.ShellCompDirectiveKeepOrder
}

// CompleteStates offers the keys of namespaces and, after the @ of one, its newest revisions.
func (p *Program) CompleteStates(command *cobra.Command, args []string, word string) ([]string, cobra.ShellCompDirective) {
	namespace, _, state := strings.Cut(word, "@")
	if !state {
		return p.CompleteNamespaces(command, args, word)
	}
	offers, directive := p.offer(command, nil, word, func(ctx context.Context, c client.Client, _ string) ([]offer, error) {
		return newestRevisions(ctx, c, namespace, namespace+"@")
	})
	return offers, directive | cobra.ShellCompDirectiveKeepOrder
}

// CompleteStatesAndFiles is CompleteStates, and offers files if nothing matches.
func (p *Program) CompleteStatesAndFiles(command *cobra.Command, args []string, word string) ([]string, cobra.ShellCompDirective) {
	offers, _ := p.CompleteStates(command, args, word)
	return offers, cobra.ShellCompDirectiveDefault
}

// newestRevisions returns offers for the newest revisions of the namespace, after the prefix.
func newestRevisions(ctx context.Context, c client.Client, namespace, prefix string) (offers []offer, err error) {
	newest, err := Call[guidonv1.ListChangesResponse](ctx, c, "/guidon.v1.ChangeService/ListChanges",
		&guidonv1.ListChangesRequest{NamespaceKey: namespace, Limit: 20})
	last := int64(0)
	for _, change := range newest.GetChanges() {
		if change.GetRevision() != last { // which may have several changes
			last = change.GetRevision()
			what := ActorName(change.GetActor()) + ": " + change.GetAction() + " " + change.GetKind() + " " + change.GetKey()
			offers = append(offers, offer{prefix + strconv.FormatInt(last, 10), what})
		}
	}
	return offers, err
}
