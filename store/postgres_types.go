package store

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype"
)

// registerTypes tells the connection what the types of Go are in the database, as a
// statement that is not prepared needs it. The driver knows that by itself, with a
// hundred types more, unless it was built without, by the tag
// nopgxregisterdefaulttypes: the function for AWS Lambda is, and a tenth smaller.
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
