package storetest

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/guidonhq/guidon/service"
	"github.com/guidonhq/guidon/store"
)

func wantFavorites(t *testing.T, what string, s service.FavoriteStore, account string, want ...service.Favorite) {
	t.Helper()
	got, err := s.Favorites(t.Context(), account)
	mustSucceed(t, err)
	wantEqual(t, what, want, got)
}

func testFavorites(t *testing.T, s *store.DB) {
	a, upper := service.Favorite{Namespace: "default", Key: "a"}, service.Favorite{Namespace: "default", Key: "A"}
	b := service.Favorite{Namespace: "shop", Key: "b"}
	long := service.Favorite{Namespace: strings.Repeat("n", 255), Key: strings.Repeat("k", 255)}
	account := "oidc:idp:sub:" + strings.Repeat("ü", 400)
	wantFavorites(t, "none", s, account)
	mustSucceed(t, s.RemoveFavorite(t.Context(), account, a))
	for _, f := range []service.Favorite{a, b, upper, long, a} {
		mustSucceed(t, s.AddFavorite(t.Context(), account, f))
	}
	mustSucceed(t, s.AddFavorite(t.Context(), strings.ToUpper(account), b))
	wantFavorites(t, "the latest first", s, account, long, upper, b, a)
	wantFavorites(t, "another account", s, strings.ToUpper(account), b)
	mustSucceed(t, s.RemoveFavorite(t.Context(), account, upper))
	mustSucceed(t, s.RemoveFavorite(t.Context(), account, long))
	wantFavorites(t, "after removals", s, account, b, a)
	mustSucceed(t, s.AddFavorite(t.Context(), account, long))
	wantFavorites(t, "added again", s, account, long, b, a)
	wantEqual(t, "revision of the namespace", 1, snapshot(t, s, "default").Revision().Number)
}

// An account has at most 500 favorites. Those of flags that no longer exist make room.
func testTooManyFavorites(t *testing.T, s *store.DB) {
	const account = "oidc:idp:sub:1"
	putFlags(t, s, defaultNamespace, numberedFlags("flag-", service.MaxFavorites+1)...)
	favorite := func(i int) service.Favorite {
		return service.Favorite{Namespace: "default", Key: fmt.Sprint("flag-", i)}
	}
	for i := range service.MaxFavorites {
		mustSucceed(t, s.AddFavorite(t.Context(), account, favorite(i)))
	}
	mustSucceed(t, s.AddFavorite(t.Context(), account, favorite(0)))
	mustSucceed(t, s.AddFavorite(t.Context(), "other", favorite(0)))
	if err := s.AddFavorite(t.Context(), account, favorite(service.MaxFavorites)); !errors.Is(err, service.ErrTooManyFavorites) {
		t.Fatalf("one more: got %v, want %v", err, service.ErrTooManyFavorites)
	}
	update(t, s, defaultNamespace, deleteFlags("flag-0", "flag-1"))
	mustSucceed(t, s.AddFavorite(t.Context(), account, favorite(service.MaxFavorites)))
	var want []service.Favorite
	for i := service.MaxFavorites; i > 1; i-- {
		want = append(want, favorite(i))
	}
	wantFavorites(t, "after deletions", s, account, want...)
	wantFavorites(t, "another account", s, "other", favorite(0))
}
