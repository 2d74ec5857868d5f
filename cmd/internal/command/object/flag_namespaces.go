package object

import (
	"context"
	"slices"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/cmd/internal/client"
	"github.com/guidonhq/guidon/cmd/internal/command/cli"
	"github.com/guidonhq/guidon/handler/convert"
	"github.com/guidonhq/guidon/handler/wire/guidonv1"
)

// flagNamespaces returns what a flag is in each namespace. It returns NotFound if none has it.
func (o *object) flagNamespaces(ctx context.Context, service client.Client, key string) (cli.Output, error) {
	var all []*guidonv1.FlagNamespace
	if err := cli.Pages(func(token string) (string, error) {
		request := &guidonv1.ListFlagNamespacesRequest{Key: key, Reference: guidon.NamespaceKey(o.Namespace), PageToken: token}
		page, err := cli.Call[guidonv1.FlagNamespaceList](ctx, service, "/guidon.v1.CatalogService/ListFlagNamespaces", request)
		all = append(all, page.GetNamespaces()...)
		return page.GetNextPageToken(), err
	}); err != nil {
		return cli.Output{}, err
	}
	if !slices.ContainsFunc(all, func(in *guidonv1.FlagNamespace) bool { return in.GetFlag() != nil || in.Unavailable != nil }) {
		return cli.Output{}, guidon.Errorf(guidon.NotFound, "flag %q not found in any namespace", key)
	}
	const header = "NAMESPACE\tSTATE\tSAME\tREVISION\tCHANGED"
	return cli.List(all, (*guidonv1.FlagNamespace).GetNamespaceKey, header, func(in *guidonv1.FlagNamespace) []any {
		return []any{in.GetNamespaceKey(), flagIn(in), cli.YesOrDash(in.GetSame()), in.GetRevision(), cli.When(in.GetFlag().GetUpdatedAt())}
	}), nil
}

// flagIn returns what a flag does in a namespace.
func flagIn(in *guidonv1.FlagNamespace) string {
	switch {
	case in.Unavailable != nil:
		return "cannot be read: " + in.GetUnavailable()
	case in.GetFlag() == nil:
		return "no flag"
	case in.GetFlag().Unreadable != nil:
		return "unreadable"
	}
	return convert.FlagWords(in.GetFlag())
}
