package store

import (
	"context"
	"database/sql"
	"slices"

	"github.com/guidonhq/guidon/service"
)

var _ service.FavoriteStore = (*DB)(nil)

// Favorites implements [service.FavoriteStore].
func (d *DB) Favorites(ctx context.Context, account string) ([]service.Favorite, error) {
	return readValue(ctx, d, func(ctx context.Context, s *session) ([]service.Favorite, error) {
		return s.favorites(ctx, digestOf(account))
	})
}

func (s *session) favorites(ctx context.Context, hash string) ([]service.Favorite, error) {
	return collect(ctx, s, selectFavorites, []any{hash}, func(rows *sql.Rows) (f service.Favorite, err error) {
		err = rows.Scan(&f.Namespace, &f.Key)
		return f, err
	})
}

const (
	selectFavorites = `SELECT namespace_key, flag_key FROM favorites WHERE account_hash = ?
		ORDER BY added_at DESC, namespace_key, flag_key`
	deleteStaleFavorites = `DELETE FROM favorites WHERE account_hash = ? AND NOT EXISTS (SELECT 1 FROM flags
		WHERE flags.namespace_key = favorites.namespace_key AND flags.flag_key = favorites.flag_key)`
)

// AddFavorite implements [service.FavoriteStore].
func (d *DB) AddFavorite(ctx context.Context, account string, f service.Favorite) error {
	return d.write(ctx, func(ctx context.Context, s *session) error {
		hash := digestOf(account)
		all, err := s.favorites(ctx, hash)
		if err != nil || slices.Contains(all, f) {
			return err
		}
		if len(all) >= service.MaxFavorites {
			freed, err := s.exec(ctx, deleteStaleFavorites, hash)
			if err != nil {
				return err
			}
			if freed == 0 {
				return service.ErrTooManyFavorites
			}
		}
		_, err = s.exec(ctx, "INSERT INTO favorites (account_hash, namespace_key, flag_key, added_at) VALUES (?, ?, ?, ?)",
			hash, f.Namespace, f.Key, transactionTime().UnixMicro())
		return err
	})
}

// RemoveFavorite implements [service.FavoriteStore].
func (d *DB) RemoveFavorite(ctx context.Context, account string, f service.Favorite) error {
	return d.write(ctx, func(ctx context.Context, s *session) error {
		_, err := s.exec(ctx, "DELETE FROM favorites WHERE account_hash = ? AND namespace_key = ? AND flag_key = ?",
			digestOf(account), f.Namespace, f.Key)
		return err
	})
}
