package settings

import (
	"cmp"
	"net/http"
	"strings"
	"time"

	"github.com/guidonhq/guidon/change"
	"github.com/guidonhq/guidon/handler/web/page"
	"github.com/guidonhq/guidon/handler/wire/auth"
	"github.com/guidonhq/guidon/service"
)

// tokensPage is the model of the list of static tokens.
type tokensPage struct {
	Tokens  []*auth.Authentication
	Names   map[string]string // of the tokens, by the id of the actor
	Default string            // the role of tokens without one
	Next    string            // the token of the next page, or ""
	First   bool              // this is the first page
	Deleted bool
	Enabled bool
}

// maxTokens is how many tokens a page has.
const maxTokens = 100

// bootstrapName is the name of the token that the server itself creates at its first start.
const bootstrapName = "initial_bootstrap_token"

// showTokens lists the static tokens.
func showTokens(v *page.Visit) error {
	from := v.Query().Get("page")
	configured, err := readConfiguration(v)
	if err != nil {
		return err
	}
	list, err := page.ListAuthentications.Run(v, &auth.ListAuthenticationsRequest{Method: auth.Method_METHOD_TOKEN, Limit: maxTokens, PageToken: from})
	if err != nil {
		return err
	}
	p := tokensPage{
		Names: make(map[string]string), Default: configured.Authorization.DefaultRoles.Token, Next: list.GetNextPageToken(), First: from == "",
		Deleted: v.Query().Get("deleted") != "", Enabled: v.Site.Enabled(string(page.CreateToken)),
	}
	for _, t := range list.GetAuthentications() {
		p.Names["token:"+t.GetId()] = page.NameOf(t.GetMetadata())
		if t.GetClient() == "" { // a session of a token is no token
			p.Tokens = append(p.Tokens, t)
		}
	}
	return show(v, http.StatusOK, tokensSection, "", p.main(v))
}

// grants returns the roles of the token.
func (p tokensPage) grants(t *auth.Authentication) []*auth.Grant {
	grants := t.GetAccess()
	if len(grants) == 0 {
		role := cmp.Or(p.Default, service.RoleAdmin.String())
		grants = []*auth.Grant{{Role: role, NamespaceKeys: []string{service.Everywhere}}}
	}
	if namespace := strings.TrimSpace(t.GetMetadata()[service.MetadataTokenNamespace]); namespace != "" {
		for _, g := range grants {
			g.NamespaceKeys = []string{namespace}
		}
	}
	return grants
}

// isBootstrap reports whether the token is the one that the server created by itself.
func isBootstrap(t *auth.Authentication) bool {
	return t.GetMetadata()[service.MetadataTokenName] == bootstrapName
}

// description returns the description of the token, or "".
func description(t *auth.Authentication) string {
	return page.Printable(t.GetMetadata()[service.MetadataTokenDescription], maxShown)
}

// creator returns who created the token, or "" if that is not known.
func (p tokensPage) creator(t *auth.Authentication) string {
	return actorName(p.Names, t.GetMetadata()[service.MetadataTokenCreatedBy])
}

// actorName returns the name of the actor with the id, or "" if it is not known.
func actorName(names map[string]string, id string) string {
	if name := names[id]; name != "" {
		return name
	}
	switch {
	case strings.HasPrefix(id, "token:"):
		return "a token"
	case strings.HasPrefix(id, "system:"):
		return "the server"
	case id == change.Anonymous.ID:
		return page.Anonymous
	}
	return page.Printable(id, maxShown)
}

// soon is how long before its end a token is shown as one that ends soon.
const soon = 14 * 24 * time.Hour

// endsSoon reports whether the token ends soon, or has ended.
func endsSoon(v *page.Visit, t *auth.Authentication) bool {
	return t.GetExpiresAt() != nil && t.GetExpiresAt().AsTime().Sub(v.Now()) < soon
}

// hasExpired reports whether the token has ended.
func hasExpired(v *page.Visit, t *auth.Authentication) bool {
	return t.GetExpiresAt() != nil && !t.GetExpiresAt().AsTime().After(v.Now())
}
