package web

import (
	"cmp"
	"net/url"
	"slices"
	"strings"
	"unicode"

	"google.golang.org/protobuf/types/known/emptypb"
	"google.golang.org/protobuf/types/known/structpb"

	"github.com/guidonhq/guidon/handler/web/page"
	"github.com/guidonhq/guidon/handler/wire/auth"
)

// ways are the ways in which people can sign in.
type ways struct {
	Providers []provider // with a button each, in this order
	Token     bool
}

// provider is an OpenID provider or a code host.
type provider struct {
	Name      string // for people
	Monogram  string // one letter, or ""
	Authorize string // the address of the link
}

// methodPath is where the methods of signing in are.
const methodPath = "/auth/v1/method/"

// findWays returns the sign-in methods, which redirect to returnTo.
func findWays(v *page.Visit, returnTo string) (ways, error) {
	response, err := run(v, listMethods, &emptypb.Empty{}, "")
	if err != nil {
		return ways{}, err
	}
	var found ways
	var codeHosts []provider
	for _, m := range response.Message.(*auth.ListAuthenticationMethodsResponse).GetMethods() {
		if !m.GetEnabled() {
			continue
		}
		metadata := m.GetMetadata().GetFields()
		switch m.GetMethod() {
		case auth.Method_METHOD_TOKEN:
			found.Token = true
		case auth.Method_METHOD_OIDC:
			for name, value := range metadata["providers"].GetStructValue().GetFields() {
				found.Providers = append(found.Providers, describe(v, "oidc/"+url.PathEscape(name), name, value.GetStructValue().GetFields(), returnTo))
			}
		case auth.Method_METHOD_CODEHOST:
			codeHosts = append(codeHosts, describe(v, "codehost", metadata["type"].GetStringValue(), metadata, returnTo))
		}
	}
	slices.SortFunc(found.Providers, func(a, b provider) int {
		return cmp.Or(cmp.Compare(strings.ToLower(a.Name), strings.ToLower(b.Name)), cmp.Compare(a.Authorize, b.Authorize))
	})
	found.Providers = append(found.Providers, codeHosts...)
	return found, nil
}

// describe returns the provider at a path below methodPath. name is for one without a
// display name.
func describe(v *page.Visit, path, name string, metadata map[string]*structpb.Value, returnTo string) provider {
	name = cmp.Or(page.Printable(metadata["display_name"].GetStringValue(), maxName), page.Printable(name, maxName), "the provider")
	query := url.Values{"redirect": {"true"}, "return_to": {returnTo}}
	return provider{Name: name, Monogram: monogram(name), Authorize: v.Site.Path(methodPath + path + "/authorize?" + query.Encode())}
}

// monogram returns the first letter or digit of the name as a capital, or "".
func monogram(name string) string {
	for _, r := range name {
		if unicode.IsLetter(r) || unicode.IsDigit(r) {
			return string(unicode.ToUpper(r))
		}
	}
	return ""
}
