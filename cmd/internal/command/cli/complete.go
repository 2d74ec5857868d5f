package cli

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/guidonhq/guidon/cmd/internal/client"
	"github.com/guidonhq/guidon/handler/wire/flipt"
	"github.com/guidonhq/guidon/handler/wire/guidonv1"
	"github.com/guidonhq/guidon/internal/lists"
)

// Limits of a completion: the shell waits for it.
const (
	completionWait = 2 * time.Second
	maxCompletions = 2 * summaryPage
)

// CompleteDefaults completes the address and the namespace of all commands that have them.
func (p *Program) CompleteDefaults(command *cobra.Command) {
	for name, complete := range map[string]cobra.CompletionFunc{
		"address": p.CompleteContexts, "namespace": p.CompleteNamespaces, "namespaces": p.CompleteNamespaces,
	} {
		if defaultedFlag(command, name) != nil {
			_ = command.RegisterFlagCompletionFunc(name, complete) // the flag exists
		}
	}
	if isConnection(command.Flags().Lookup("context")) {
		_ = command.RegisterFlagCompletionFunc("context", p.CompleteContexts) // the flag exists
	}
	for _, below := range command.Commands() {
		p.CompleteDefaults(below)
	}
}

// CompleteContexts offers the names of contexts.
func (p *Program) CompleteContexts(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
	all, err := p.ReadContexts()
	if err != nil {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	return lists.Map(all.Names(), func(name string) string {
		return cobra.CompletionWithDesc(name, all.Named[name].Address)
	}), cobra.ShellCompDirectiveNoFileComp
}

// InOrder completes each argument by its own function, and no further ones.
func InOrder(each ...cobra.CompletionFunc) cobra.CompletionFunc {
	return func(command *cobra.Command, args []string, word string) ([]string, cobra.ShellCompDirective) {
		if len(args) >= len(each) {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		return each[len(args)](command, args, word)
	}
}

// CompleteNamespaces offers the keys of namespaces.
func (p *Program) CompleteNamespaces(command *cobra.Command, _ []string, word string) ([]string, cobra.ShellCompDirective) {
	return p.offer(command, nil, word, func(ctx context.Context, service client.Client, _ string) ([]offer, error) {
		all, err := AllNamespaces(ctx, service)
		return lists.Map(all, func(n *flipt.Namespace) offer { return offer{n.GetKey(), n.GetName()} }), err
	})
}

// CompleteFlags offers the keys of flags that are not among the arguments.
func (p *Program) CompleteFlags(command *cobra.Command, args []string, word string) ([]string, cobra.ShellCompDirective) {
	return p.offer(command, args, word, func(ctx context.Context, service client.Client, namespace string) ([]offer, error) {
		request := &guidonv1.ListFlagSummariesRequest{NamespaceKey: namespace}
		if word != "" && !strings.ContainsAny(word, `" `) {
			request.Query = "key:" + word
		}
		flags, err := AllFlags(ctx, service, request, maxCompletions)
		return lists.Map(flags, func(f *guidonv1.FlagSummary) offer { return offer{f.GetKey(), f.GetName()} }), err
	})
}

// CompleteSegments offers the keys of segments that are not among the arguments.
func (p *Program) CompleteSegments(command *cobra.Command, args []string, word string) ([]string, cobra.ShellCompDirective) {
	return p.offer(command, args, word, func(ctx context.Context, service client.Client, namespace string) ([]offer, error) {
		segments, err := AllSegments(ctx, service, &guidonv1.ListSegmentSummariesRequest{NamespaceKey: namespace}, 0)
		return lists.Map(segments, func(s *guidonv1.SegmentSummary) offer { return offer{s.GetKey(), s.GetName()} }), err
	})
}

// offer is a word that completes what is typed, and what it is about, if that is not the same.
type offer struct{ word, about string }

// offer returns what fn finds on the server or in the database of the command, in its
// namespace, if it begins with the word and is not given yet. It offers nothing if that cannot be
// reached in time.
func (p *Program) offer(
	command *cobra.Command, given []string, word string,
	fn func(ctx context.Context, service client.Client, namespace string) ([]offer, error),
) ([]string, cobra.ShellCompDirective) {
	const nothing = cobra.ShellCompDirectiveNoFileComp
	if err := p.setDefaults(command); err != nil {
		cobra.CompDebugln(err.Error(), false)
		return nil, nothing
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(command.Context()), completionWait)
	defer cancel()
	c, namespace := connectionOf(command.Flags())
	var found []offer
	err := p.WithClient(ctx, c, Reading, func(service client.Client) (err error) {
		found, err = fn(ctx, service, namespace)
		return err
	})
	if err != nil {
		cobra.CompDebugln(err.Error(), false)
	}
	var offers []string
	for _, o := range found {
		switch {
		case slices.Contains(given, o.word) || !strings.HasPrefix(o.word, word) || len(offers) == maxCompletions:
		case o.word == o.about:
			offers = append(offers, o.word)
		default:
			offers = append(offers, cobra.CompletionWithDesc(o.word, Printable(o.about)))
		}
	}
	return offers, nothing
}

// connectionOf returns the connection and the namespace that the flags select.
func connectionOf(flags *pflag.FlagSet) (*Connection, string) {
	value := func(name string) string {
		if flag := flags.Lookup(name); flag != nil {
			return flag.Value.String()
		}
		return ""
	}
	return &Connection{
		Address: value("address"), CAFile: value("ca-file"), Token: value("token"), TokenFile: value("token-file"),
		Database: value("db"), optional: flags.Lookup("db") != nil, Timeout: completionWait, Quiet: true,
	}, value("namespace")
}

// CompleteWords returns a completion function for a flag with few values.
func CompleteWords(words ...string) cobra.CompletionFunc {
	return cobra.FixedCompletions(words, cobra.ShellCompDirectiveNoFileComp)
}
