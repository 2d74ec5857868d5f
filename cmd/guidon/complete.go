package main

import (
	"context"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/guidonhq/guidon/cmd/internal/client"
	"github.com/guidonhq/guidon/handler/wire/guidonv1"
)

// Limits of a completion: the shell waits for it.
const (
	completionWait = 2 * time.Second
	maxCompletions = 2 * summaryPage
)

// completeDefaults completes the address and the namespace of all commands that have them.
func (p *program) completeDefaults(command *cobra.Command) {
	for name, complete := range map[string]cobra.CompletionFunc{
		"address": p.completeContexts, "namespace": p.completeNamespaces, "namespaces": p.completeNamespaces,
	} {
		if defaultedFlag(command, name) != nil {
			_ = command.RegisterFlagCompletionFunc(name, complete) // the flag exists
		}
	}
	for _, below := range command.Commands() {
		p.completeDefaults(below)
	}
}

// completeContexts offers the names of contexts.
func (p *program) completeContexts(_ *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
	all, err := p.readContexts()
	if err != nil || len(args) > 0 {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	var offers []string
	for _, name := range all.Names() {
		offers = append(offers, cobra.CompletionWithDesc(name, all.Named[name].Address))
	}
	return offers, cobra.ShellCompDirectiveNoFileComp
}

// firstArgument completes only the first argument.
func firstArgument(complete cobra.CompletionFunc) cobra.CompletionFunc {
	return func(command *cobra.Command, args []string, word string) ([]string, cobra.ShellCompDirective) {
		if len(args) > 0 {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		return complete(command, args, word)
	}
}

// completeNamespaces offers the keys of namespaces.
func (p *program) completeNamespaces(command *cobra.Command, _ []string, word string) ([]string, cobra.ShellCompDirective) {
	return p.offer(command, func(ctx context.Context, service client.Client, _ string) ([]string, error) {
		all, err := allNamespaces(ctx, service)
		var offers []string
		for _, n := range all {
			if strings.HasPrefix(n.GetKey(), word) && len(offers) < maxCompletions {
				offers = append(offers, describe(n.GetKey(), n.GetName()))
			}
		}
		return offers, err
	})
}

// completeNamespacesAndFiles offers the keys of namespaces, or files if none matches.
func (p *program) completeNamespacesAndFiles(command *cobra.Command, args []string, word string) ([]string, cobra.ShellCompDirective) {
	offers, _ := p.completeNamespaces(command, args, word)
	return offers, cobra.ShellCompDirectiveDefault
}

// completeFlags offers the keys of flags that are not among the arguments.
func (p *program) completeFlags(command *cobra.Command, args []string, word string) ([]string, cobra.ShellCompDirective) {
	return p.offer(command, func(ctx context.Context, service client.Client, namespace string) ([]string, error) {
		request := &guidonv1.ListFlagSummariesRequest{NamespaceKey: namespace}
		if word != "" && !strings.ContainsAny(word, `" `) {
			request.Query = "key:" + word
		}
		flags, err := allFlags(ctx, service, request)
		var offers []string
		for _, f := range flags {
			offers = addOffer(offers, f.GetKey(), f.GetName(), word, args)
		}
		return offers, err
	})
}

// completeSegments offers the keys of segments that are not among the arguments.
func (p *program) completeSegments(command *cobra.Command, args []string, word string) ([]string, cobra.ShellCompDirective) {
	return p.offer(command, func(ctx context.Context, service client.Client, namespace string) ([]string, error) {
		segments, err := allSegments(ctx, service, &guidonv1.ListSegmentSummariesRequest{NamespaceKey: namespace})
		var offers []string
		for _, s := range segments {
			offers = addOffer(offers, s.GetKey(), s.GetName(), word, args)
		}
		return offers, err
	})
}

// addOffer adds a key that begins with the word and is not given yet.
func addOffer(offers []string, key, name, word string, given []string) []string {
	for _, other := range given {
		if key == other {
			return offers
		}
	}
	if !strings.HasPrefix(key, word) || len(offers) == maxCompletions {
		return offers
	}
	return append(offers, describe(key, name))
}

// describe returns an offer with a description on the same line, unless that says nothing.
func describe(key, name string) string {
	if name == key {
		return key
	}
	return cobra.CompletionWithDesc(key, printable(name))
}

// offer returns what fn finds on the server or in the database of the command, in its
// namespace. It offers nothing if that cannot be reached in time.
func (p *program) offer(
	command *cobra.Command, fn func(ctx context.Context, service client.Client, namespace string) ([]string, error),
) ([]string, cobra.ShellCompDirective) {
	const nothing = cobra.ShellCompDirectiveNoFileComp
	if err := p.setDefaults(command); err != nil {
		cobra.CompDebugln(err.Error(), false)
		return nil, nothing
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(command.Context()), completionWait)
	defer cancel()
	c, namespace := connectionOf(command.Flags())
	var offers []string
	err := p.withClient(ctx, c, reading, func(service client.Client) (err error) {
		offers, err = fn(ctx, service, namespace)
		return err
	})
	if err != nil {
		cobra.CompDebugln(err.Error(), false)
	}
	return offers, nothing
}

// connectionOf returns the connection and the namespace that the flags select.
func connectionOf(flags *pflag.FlagSet) (*connection, string) {
	value := func(name string) string {
		if flag := flags.Lookup(name); flag != nil {
			return flag.Value.String()
		}
		return ""
	}
	return &connection{
		address: value("address"), caFile: value("ca-file"), token: value("token"), tokenFile: value("token-file"),
		database: value("db"), optional: flags.Lookup("db") != nil, timeout: completionWait, quiet: true,
	}, value("namespace")
}
