package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"google.golang.org/genproto/googleapis/api/httpbody"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/emptypb"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/cmd/internal/client"
	"github.com/guidonhq/guidon/handler/wire/auth"
	"github.com/guidonhq/guidon/handler/wire/flipt"
	"github.com/guidonhq/guidon/handler/wire/guidonv1"
	"github.com/guidonhq/guidon/service"
)

// Call calls an operation and returns the response, which is never nil.
func Call[M any, R interface {
	*M
	proto.Message
}](ctx context.Context, service client.Client, method string, request proto.Message) (R, error) {
	response := R(new(M))
	err := service.Invoke(ctx, method, request, response)
	return response, err
}

// maxPages limits the pages of a list that a server may make commands read.
const maxPages = 10_000

// Pages calls fetch for each page of a list, until there is no further one.
func Pages(fetch func(token string) (next string, err error)) error {
	token := ""
	for range maxPages {
		next, err := fetch(token)
		if err != nil || next == "" {
			return err
		}
		if next == token {
			return fmt.Errorf("unexpected response: the page after %q is the same again", token)
		}
		token = next
	}
	return fmt.Errorf("unexpected response: more than %d pages", maxPages)
}

// HasChanged reports whether a write was refused because something has changed since it was
// read. The other reason with that code that commands get is [service.ErrAdditions].
func HasChanged(err error) bool {
	return errors.Is(err, guidon.FailedPrecondition) && !strings.Contains(err.Error(), service.ErrAdditions.Error())
}

// summaryPage is how many objects are requested at a time, the maximum of the service.
const summaryPage = 200

// PagesUpTo returns the objects of all pages that fetch returns with the offset of the next one, or the
// first ones up to the limit unless that is 0.
func PagesUpTo[T any](limit int, fetch func(offset, most int32) (page []T, next *int32, err error)) (all []T, err error) {
	for offset := int32(0); ; {
		most := int32(summaryPage)
		if limit > 0 {
			most = int32(min(limit-len(all), summaryPage)) // #nosec G115 -- at most 200
		}
		page, next, err := fetch(offset, most)
		if err != nil {
			return nil, err
		}
		if all = append(all, page...); next == nil || len(all) == limit {
			return all, nil
		}
		offset = *next
	}
}

// AllFlags returns the summaries of all pages, or of the first ones up to the limit unless that
// is 0.
func AllFlags(
	ctx context.Context, service client.Client, request *guidonv1.ListFlagSummariesRequest, limit int,
) ([]*guidonv1.FlagSummary, error) {
	return PagesUpTo(limit, func(offset, most int32) ([]*guidonv1.FlagSummary, *int32, error) {
		request.Offset, request.Limit = offset, most
		page, err := Call[guidonv1.FlagSummaryList](ctx, service, "/guidon.v1.CatalogService/ListFlagSummaries", request)
		return page.GetFlags(), page.NextOffset, err
	})
}

// AllNamespaces returns the namespaces of all pages.
func AllNamespaces(ctx context.Context, service client.Client) (all []*flipt.Namespace, err error) {
	err = Pages(func(token string) (string, error) {
		request := &flipt.ListNamespaceRequest{PageToken: token} // without a limit: as few pages as possible
		page, err := Call[flipt.NamespaceList](ctx, service, "/flipt.Flipt/ListNamespaces", request)
		all = append(all, page.GetNamespaces()...)
		return page.GetNextPageToken(), err
	})
	return all, err
}

// AllSegments is [AllFlags] for segments.
func AllSegments(
	ctx context.Context, service client.Client, request *guidonv1.ListSegmentSummariesRequest, limit int,
) ([]*guidonv1.SegmentSummary, error) {
	return PagesUpTo(limit, func(offset, most int32) ([]*guidonv1.SegmentSummary, *int32, error) {
		request.Offset, request.Limit = offset, most
		page, err := Call[guidonv1.SegmentSummaryList](ctx, service, "/guidon.v1.CatalogService/ListSegmentSummaries", request)
		return page.GetSegments(), page.NextOffset, err
	})
}

// NewestChange returns the newest change of the namespace, or nil if it has no changes.
func NewestChange(ctx context.Context, service client.Client, namespace string) (*guidonv1.Change, error) {
	newest, err := Call[guidonv1.ListChangesResponse](ctx, service, "/guidon.v1.ChangeService/ListChanges",
		&guidonv1.ListChangesRequest{NamespaceKey: namespace, Limit: 1})
	if err != nil || len(newest.GetChanges()) == 0 {
		return nil, err
	}
	return newest.GetChanges()[0], nil
}

// Follow calls each for the changes of the namespace after the position, as they are made,
// until ctx ends. It requires a server.
func (p *Program) Follow(ctx context.Context, c *Connection, namespace, after string, each func(*guidonv1.Change) error) error {
	options, err := p.Authenticated(c)
	if err != nil {
		return err
	}
	err = client.Follower{
		Namespace: namespace, After: after, Each: each,
		Lost: func(err error) { fmt.Fprintf(p.Err, "guidon: %v; connecting again\n", err) },
	}.Follow(ctx, c.Address, options)
	switch guidon.CodeOf(err) {
	case guidon.NotFound, guidon.Unimplemented:
		return fmt.Errorf("%w; the server does not offer change streams unless streams.enabled is true", err)
	}
	return err
}

// ServerInfo is what commands need of what a server says about itself (contract 11).
type ServerInfo struct {
	Version        string `json:"version,omitempty"`
	ReadOnly       bool   `json:"readOnly"`
	DryRun         bool   `json:"dryRun"` // it respects the header of dry runs
	Authentication struct {
		Required bool `json:"required"`
	} `json:"authentication"`
}

// Info returns what the server says about itself.
func Info(ctx context.Context, server client.Client) (info ServerInfo, err error) {
	body, err := Call[httpbody.HttpBody](ctx, server, "/flipt.meta.MetadataService/GetInfo", new(emptypb.Empty))
	if err == nil {
		err = json.Unmarshal(body.GetData(), &info)
	}
	return info, err
}

// Expiry returns when the token expires, for a table.
func (p *Program) Expiry(token *auth.Authentication) any {
	at := Instant(token.GetExpiresAt())
	if !at.IsZero() && !at.After(p.Now()) {
		return Colored{Red, at.Format(time.RFC3339) + " (expired)"}
	}
	return TimeOr(at, "never")
}

// Self returns the authentication of the client.
func Self(ctx context.Context, server client.Client) (*auth.Authentication, error) {
	return Call[auth.Authentication](ctx, server, "/flipt.auth.AuthenticationService/GetAuthenticationSelf", new(emptypb.Empty))
}

// nameKeys are the metadata that name a person, a token or a workload, the best first.
var nameKeys = []string{
	service.MetadataTokenName, "io.service.auth.name", "io.service.auth.email",
	"io.service.auth.jwt.name", "io.service.auth.jwt.email", "io.service.auth.jwt.sub", "io.service.auth.k8s.serviceaccount.name",
}

// NameOf returns the name of the person, the token or the workload, or "".
func NameOf(a *auth.Authentication) string {
	for _, key := range nameKeys {
		if name := a.GetMetadata()[key]; name != "" {
			return name
		}
	}
	return ""
}

// MethodOf returns the method of signing in, in the form for people.
func MethodOf(a *auth.Authentication) string {
	return strings.ToLower(strings.TrimPrefix(a.GetMethod().String(), "METHOD_"))
}

// NamespacesOf returns namespaces for a table.
func NamespacesOf(keys []string) string {
	if on := strings.Join(keys, ","); on != service.Everywhere {
		return on
	}
	return "all"
}
