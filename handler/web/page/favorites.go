package page

import (
	"context"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/a-h/templ"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/handler/exchange"
	"github.com/guidonhq/guidon/handler/web/part"
	"github.com/guidonhq/guidon/service"
)

// Favorites returns the favorites of the visitor in the namespaces that they may see, the latest
// first. Their flags may have been deleted since.
func (v *Visit) Favorites() ([]service.Favorite, error) { return v.favorites() }

func (v *Visit) readFavorites() ([]service.Favorite, error) {
	kept, account := v.favoriteStore()
	if account != "" && v.Away() {
		return nil, guidon.Errorf(guidon.Unavailable, "the database does not answer")
	}
	all, err := kept.Favorites(v.Request.Context(), account)
	return slices.DeleteFunc(all, func(f service.Favorite) bool { return v.NamespaceWith(f.Namespace) == nil }), err
}

// favoriteStore returns what keeps the favorites of the visitor, and the account there: that of a
// person who signed in. Otherwise it is the browser: several people may share a static token.
func (v *Visit) favoriteStore() (kept service.FavoriteStore, account string) {
	if a := v.Visitor.Authentication; a != nil && a.Subject != "" && v.Site.Favorites != nil {
		return v.Site.Favorites, a.Subject
	}
	return favoritesCookie{v}, ""
}

// SetFavorite responds to a star: it makes the flag of the visit's namespace a favorite of the
// visitor, or no longer one. A script gets the new star, and a browser the page that it came from.
func (v *Visit) SetFavorite(key, name string, form url.Values) error {
	kept, account := v.favoriteStore()
	favorite, set := form.Get("favorite") == "true", kept.RemoveFavorite
	if favorite {
		set = kept.AddFavorite
	}
	if err := set(v.Request.Context(), account, service.Favorite{Namespace: v.Key(), Key: key}); err != nil {
		return err
	}
	if exchange.First(v.Request.Header, fragmentHeader) != starRegion {
		return v.Redirect(v.Site.ReturnTo(form.Get("back")))
	}
	return v.Reply(http.StatusOK, Page{Regions: map[string]templ.Component{starRegion: v.star(key, name, favorite)}})
}

// SignsOfFavorites returns the signs of the flags. Flags that do not exist have none.
func SignsOfFavorites(v *Visit, favorites []service.Favorite) (map[service.Favorite]*part.Sign, error) {
	keys, all := make(map[string][]string), make(map[service.Favorite]*part.Sign)
	for _, f := range favorites {
		keys[f.Namespace] = append(keys[f.Namespace], f.Key)
	}
	for namespace, keys := range keys {
		signs, err := SignsOf(v, namespace, keys)
		if err != nil {
			return nil, err
		}
		for key, sign := range signs {
			all[service.Favorite{Namespace: namespace, Key: key}] = sign
		}
	}
	return all, nil
}

// favoritesCookie keeps favorites in a cookie of the browser, as pairs of namespace and key. They are
// not secret and grant no access.
type favoritesCookie struct{ v *Visit }

const (
	favoritesName   = "guidon_favorites"
	maxCookieLength = 3 << 10 // of the value, in bytes; browsers keep 4096 with the name and attributes
)

// Favorites implements [service.FavoriteStore]. It leaves out what a page has not written.
func (c favoritesCookie) Favorites(context.Context, string) (all []service.Favorite, _ error) {
	cookie, err := c.v.Request.Cookie(favoritesName)
	if err != nil || len(cookie.Value) > maxCookieLength {
		return nil, nil
	}
	for pair := range strings.SplitSeq(cookie.Value, "&") {
		namespace, key, _ := strings.Cut(pair, "=")
		f := service.Favorite{Namespace: namespace, Key: key}
		valid := service.ValidNamespaceKey(namespace) && service.ValidNamespaceKey(key) // the rule for keys of flags is the same
		if valid && !slices.Contains(all, f) {
			all = append(all, f)
		}
	}
	return all, nil
}

// AddFavorite implements [service.FavoriteStore].
func (c favoritesCookie) AddFavorite(ctx context.Context, account string, f service.Favorite) error {
	all, _ := c.Favorites(ctx, account)
	if slices.Contains(all, f) || c.set(append([]service.Favorite{f}, all...)) {
		return nil
	}
	signs, err := SignsOfFavorites(c.v, all)
	if err != nil {
		return err
	}
	all = slices.DeleteFunc(all, func(f service.Favorite) bool { return signs[f] == nil })
	if !c.set(append([]service.Favorite{f}, all...)) {
		return guidon.Errorf(guidon.InvalidArgument, "this browser has no room for more favorites; remove some first")
	}
	return nil
}

// RemoveFavorite implements [service.FavoriteStore].
func (c favoritesCookie) RemoveFavorite(ctx context.Context, account string, f service.Favorite) error {
	all, _ := c.Favorites(ctx, account)
	c.set(slices.DeleteFunc(all, func(other service.Favorite) bool { return other == f }))
	return nil
}

// set makes the browser keep the favorites, and reports whether there is room for them.
func (c favoritesCookie) set(all []service.Favorite) bool {
	pairs := make([]string, len(all))
	for i, f := range all {
		pairs[i] = f.Namespace + "=" + f.Key
	}
	value := strings.Join(pairs, "&")
	if len(value) > maxCookieLength || len(all) > service.MaxFavorites {
		return false
	}
	c.v.setCookie(favoritesName, value)
	return true
}
