package page

import (
	"net/url"
	"slices"
	"strconv"
)

// Query returns the end of an address with fields, which are names and values in turn. It leaves out
// those without a value.
func Query(fields ...string) string {
	query := make(url.Values)
	for field := range slices.Chunk(fields, 2) {
		if name, value := field[0], field[1]; value != "" {
			query.Set(name, value)
		}
	}
	return WithQuery("", query)
}

// WithQuery returns the path with the query, unless that is empty.
func WithQuery(path string, query url.Values) string {
	if encoded := query.Encode(); encoded != "" {
		return path + "?" + encoded
	}
	return path
}

// FieldPage is the field of an address with the number of the page of a list.
const FieldPage = "page"

// PageOf returns the number of the page in an address, from 1.
func PageOf(query url.Values) int {
	if n, err := strconv.Atoi(query.Get(FieldPage)); err == nil && n > 0 && n < 1<<20 {
		return n
	}
	return 1
}

// PageField returns the value of [FieldPage], which the first page has not.
func PageField(number int) string {
	if number <= 1 {
		return ""
	}
	return strconv.Itoa(number)
}
