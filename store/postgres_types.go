package store

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype"
)

// registerTypes maps Go types to types of the database, for statements that are not
// prepared. The driver does so for these and a hundred more types, unless it is built
// with the tag nopgxregisterdefaulttypes. The function for AWS Lambda is, which makes
// it a tenth smaller.
func registerTypes(_ context.Context, conn *pgx.Conn) error {
	types := conn.TypeMap()
	registerType[string](types, "text")
	registerType[[]byte](types, "bytea")
	registerType[bool](types, "bool")
	registerType[int16](types, "int2")
	registerType[int32](types, "int4")
	registerType[int64](types, "int8")
	registerType[int](types, "int8")
	registerType[float64](types, "float8")
	registerType[time.Time](types, "timestamptz")
	return nil
}

func registerType[T any](types *pgtype.Map, name string) {
	var value T
	types.RegisterDefaultPgType(value, name)
	types.RegisterDefaultPgType(&value, name)
}
