package service

import (
	"context"

	"github.com/guidonhq/guidon"
)

// Favorite names a flag that somebody marked as a favorite.
type Favorite struct{ Namespace, Key string }

// MaxFavorites limits the favorites of an account.
const MaxFavorites = 500

// ErrTooManyFavorites is returned to an account that has [MaxFavorites].
var ErrTooManyFavorites = guidon.Errorf(guidon.InvalidArgument, "an account can have at most %d favorites; remove some first", MaxFavorites)

// FavoriteStore keeps the favorites of accounts. They belong to people and not to namespaces, so
// they have no revisions and no change records, and documents lack them. An account is the
// [Identity.Subject] of a person, which change records have as the actor. The methods are safe
// for concurrent use. Their errors are those of [Store].
type FavoriteStore interface {
	// Favorites returns the favorites of the account, the latest first. Their flags may have
	// been deleted since.
	Favorites(ctx context.Context, account string) ([]Favorite, error)
	// AddFavorite adds a favorite of the account, unless it is one already. It returns
	// ErrTooManyFavorites if there is no room, not even that of flags that have been deleted.
	AddFavorite(ctx context.Context, account string, f Favorite) error
	// RemoveFavorite removes a favorite of the account. It is not an error if it is none.
	RemoveFavorite(ctx context.Context, account string, f Favorite) error
}
