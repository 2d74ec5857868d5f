package cli

import (
	"context"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/guidonhq/guidon/cmd/internal/client"
	"github.com/guidonhq/guidon/handler/wire/guidonv1"
	"github.com/guidonhq/guidon/service"
)

// unfinished are the directives for offers to which a value must be added.
const unfinished = cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveNoSpace

// CompleteFlagQuery offers terms for the last word of a query of flags.
func (p *Program) CompleteFlagQuery(command *cobra.Command, _ []string, text string) ([]string, cobra.ShellCompDirective) {
	before := text[:strings.LastIndex(text, " ")+1]
	offers, _ := p.offer(command, func(ctx context.Context, c client.Client, namespace string) ([]string, error) {
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
		var offers []string
		for _, term := range terms {
			if !strings.Contains(term, " ") {
				offers = addOffer(offers, before+term, before+term, text, offers)
			}
		}
		return offers, err
	})
	return offers, unfinished
}

// CompleteProperties offers the properties of constraints, followed by end.
func (p *Program) CompleteProperties(end string) cobra.CompletionFunc {
	return func(command *cobra.Command, _ []string, word string) ([]string, cobra.ShellCompDirective) {
		offers, _ := p.offer(command, func(ctx context.Context, c client.Client, namespace string) ([]string, error) {
			found, err := Call[guidonv1.PropertyList](ctx, c, "/guidon.v1.CatalogService/ListProperties",
				&guidonv1.ListPropertiesRequest{NamespaceKey: namespace, Prefix: word})
			var offers []string
			for _, property := range found.GetProperties() {
				if name := property.GetName(); name != "" {
					offers = addOffer(offers, name+end, name+end, word, nil)
				}
			}
			return offers, err
		})
		return offers, unfinished
	}
}

// CompleteRevisions offers the newest revisions, each with who changed what.
func (p *Program) CompleteRevisions(command *cobra.Command, args []string, word string) ([]string, cobra.ShellCompDirective) {
	if len(args) > 0 {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	offers, directive := p.offer(command, func(ctx context.Context, c client.Client, namespace string) ([]string, error) {
		return newestRevisions(ctx, c, namespace, "", word)
	})
	return offers, directive | cobra.ShellCompDirectiveKeepOrder
}

// CompleteStates offers the keys of namespaces and, after the @ of one, its newest revisions.
func (p *Program) CompleteStates(command *cobra.Command, args []string, word string) ([]string, cobra.ShellCompDirective) {
	namespace, _, state := strings.Cut(word, "@")
	if !state {
		return p.CompleteNamespaces(command, args, word)
	}
	offers, directive := p.offer(command, func(ctx context.Context, c client.Client, _ string) ([]string, error) {
		return newestRevisions(ctx, c, namespace, namespace+"@", word)
	})
	return offers, directive | cobra.ShellCompDirectiveKeepOrder
}

// CompleteStatesAndFiles is CompleteStates, and offers files if nothing matches.
func (p *Program) CompleteStatesAndFiles(command *cobra.Command, args []string, word string) ([]string, cobra.ShellCompDirective) {
	offers, _ := p.CompleteStates(command, args, word)
	return offers, cobra.ShellCompDirectiveDefault
}

// newestRevisions returns offers for the newest revisions of the namespace, after the prefix.
func newestRevisions(ctx context.Context, c client.Client, namespace, prefix, word string) ([]string, error) {
	newest, err := Call[guidonv1.ListChangesResponse](ctx, c, "/guidon.v1.ChangeService/ListChanges",
		&guidonv1.ListChangesRequest{NamespaceKey: namespace, Limit: 20})
	var offers []string
	last := int64(0)
	for _, change := range newest.GetChanges() {
		if change.GetRevision() != last { // which may have several changes
			last = change.GetRevision()
			what := ActorName(change.GetActor()) + ": " + change.GetAction() + " " + change.GetKind() + " " + change.GetKey()
			offers = addOffer(offers, prefix+strconv.FormatInt(last, 10), what, word, nil)
		}
	}
	return offers, err
}
