package service

import (
	"encoding/base64"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestPaginate covers contract 6 with a list of twelve flags.
func TestPaginate(t *testing.T) {
	var flags []string
	for i := range 12 {
		flags = append(flags, fmt.Sprintf("flag_%03d", i+1))
	}
	// The example of contract 6.
	const eleventh = "eyJrZXkiOiJmbGFnXzAxMSIsIm9mZnNldCI6MTB9"
	encode := func(text string) string { return base64.StdEncoding.EncodeToString([]byte(text)) }
	tests := []struct {
		name    string
		request PageRequest
		items   []string
		next    string
		want    string
	}{
		{"everything", PageRequest{}, flags, "", ""},
		{"first page", PageRequest{Limit: 10}, flags[:10], eleventh, ""},
		{"second page", PageRequest{Limit: 10, Token: eleventh}, flags[10:], "", ""},
		{"exactly all", PageRequest{Limit: 12}, flags, "", ""},
		{"more than all", PageRequest{Limit: 1 << 30}, flags, "", ""},
		{"offset", PageRequest{Limit: 2, Offset: 10}, flags[10:], "", ""},
		{"token wins", PageRequest{Limit: 10, Offset: 3, Token: eleventh}, flags[10:], "", ""},
		{"beyond the end", PageRequest{Limit: 2, Offset: 100}, nil, "", ""},
		{"only the offset is read back", PageRequest{Limit: 5, Token: encode(`{"key":"gone","offset":10}`)}, flags[10:], "", ""},

		{"negative limit", PageRequest{Limit: -1}, nil, "", "invalid field limit: must be greater than or equal to '0'"},
		{"negative offset", PageRequest{Limit: 1, Offset: -1}, nil, "", "invalid field offset: must be greater than or equal to '0'"},
		{"offset without limit", PageRequest{Offset: 1}, nil, "", "limit must be set when offset or pageToken is set"},
		{"token without limit", PageRequest{Token: eleventh}, nil, "", "limit must be set when offset or pageToken is set"},
		{"token is not base64", PageRequest{Limit: 1, Token: "Hello World"}, nil, "", `pageToken is not valid: "Hello World"`},
		{"token is not JSON", PageRequest{Limit: 1, Token: encode("foo")}, nil, "", `pageToken is not valid: "Zm9v"`},
		{"token before the start", PageRequest{Limit: 1, Token: encode(`{"offset":-1}`)}, nil, "", `pageToken is not valid: "eyJvZmZzZXQiOi0xfQ=="`},
		{"token beyond the end", PageRequest{Limit: 1, Token: encode(`{"offset":9223372036854775807}`)}, nil, "", ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var items []string
			var page Page
			err := tt.request.Validate()
			if err == nil {
				items, page, err = paginate(flags, tt.request, func(key string) string { return key })
			}
			wantError(t, err, tt.want)
			if err != nil {
				return
			}
			if page.NextToken != tt.next || page.Total != len(flags) {
				t.Errorf("got %+v, want token %q and all %d", page, tt.next, len(flags))
			}
			if diff := cmp.Diff(tt.items, append([]string(nil), items...)); diff != "" {
				t.Errorf("items (-want +got):\n%s", diff)
			}
		})
	}
}

// TestPaginateAll: following the page tokens visits each item once, with any page
// size.
func TestPaginateAll(t *testing.T) {
	for total := range 8 {
		var all []string
		for i := range total {
			all = append(all, fmt.Sprint(i))
		}
		for limit := int32(1); limit < 10; limit++ {
			var visited []string
			request := PageRequest{Limit: limit}
			for {
				items, page, err := paginate(all, request, func(key string) string { return key })
				if err != nil {
					t.Fatal(err)
				}
				visited = append(visited, items...)
				if page.NextToken == "" {
					break
				}
				request.Token = page.NextToken
			}
			if diff := cmp.Diff(all, visited); diff != "" {
				t.Errorf("%d items by %d (-want +got):\n%s", total, limit, diff)
			}
		}
	}
}

// TestPaginateTokens covers the column "token list" of contract 6.
func TestPaginateTokens(t *testing.T) {
	var all []*Authentication
	for i := range 130 {
		all = append(all, &Authentication{ID: fmt.Sprint(i)})
	}
	tests := []struct {
		name        string
		limit       int32
		token       string
		first, size int
		next        string
	}{
		{"default", 0, "", 0, 25, "25"},
		{"second", 0, "25", 25, 25, "50"},
		{"capped", 1000, "", 0, 100, "100"},
		{"last", 100, "100", 100, 30, ""},
		{"beyond the end", 10, "5000", 130, 0, ""},
		{"not a number", 10, "abc", 0, 10, "10"},
		{"negative", 10, "-5", 0, 10, "10"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			items, next, err := paginateTokens(all, tt.limit, tt.token)
			if err != nil {
				t.Fatal(err)
			}
			if len(items) != tt.size || next != tt.next {
				t.Errorf("got %d items and token %q, want %d and %q", len(items), next, tt.size, tt.next)
			}
			if len(items) > 0 && items[0] != all[tt.first] {
				t.Errorf("starts at %s, want %d", items[0].ID, tt.first)
			}
		})
	}
	_, _, err := paginateTokens(all, -1, "")
	wantError(t, err, "invalid field limit: must be greater than or equal to '0'")
}
