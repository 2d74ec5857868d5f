package service

import (
	"cmp"
	"encoding/base64"
	"encoding/json"
	"strconv"

	"github.com/guidonhq/guidon"
)

// PageRequest selects a page of a list (contract 6).
type PageRequest struct {
	Limit  int32  // number of items; 0 means as many as fit into a response
	Offset int32  // index of the first item; deprecated, ignored if Token is set
	Token  string // Page.NextToken of the previous page
}

// Page describes a page of a list.
type Page struct {
	NextToken string // empty on the last page
	Total     int    // length of the whole list
}

// pageToken is the content of a page token. Key is informational and never read.
type pageToken struct {
	Key    string `json:"key"`
	Offset int    `json:"offset"`
	// Rest means that the previous page had no limit, so the next one needs none.
	Rest bool `json:"rest,omitempty"`
}

// placeToken returns the token of the page that starts after a place.
func placeToken(place any) string {
	text, _ := json.Marshal(place) // cannot fail for a page token, a position or a place
	return base64.StdEncoding.EncodeToString(text)
}

func parsePlace(token string, place any) error {
	text, err := base64.StdEncoding.DecodeString(token)
	if err != nil {
		return err
	}
	return json.Unmarshal(text, place)
}

// errPageToken returns the error for a malformed page token.
func errPageToken(token string) error {
	return guidon.Errorf(guidon.InvalidArgument, "pageToken is not valid: %q", token)
}

func parsePageToken(token string) (pageToken, error) {
	var t pageToken
	if err := parsePlace(token, &t); err != nil || t.Offset < 0 {
		return pageToken{}, errPageToken(token)
	}
	return t, nil
}

// Validate returns InvalidArgument if the request breaks a rule, whatever the list.
func (r PageRequest) Validate() error {
	switch {
	case r.Limit < 0:
		return guidon.Errorf(guidon.InvalidArgument, "invalid field limit: must be greater than or equal to '0'")
	case r.Offset < 0:
		return guidon.Errorf(guidon.InvalidArgument, "invalid field offset: must be greater than or equal to '0'")
	case r.Limit == 0 && (r.Offset > 0 || r.Token != "") && !r.requestsRest():
		return guidon.Errorf(guidon.InvalidArgument, "limit must be set when offset or pageToken is set")
	}
	return nil
}

// requestsRest reports whether the token is that of a page without a limit, which ended
// because of its size.
func (r PageRequest) requestsRest() bool {
	token, err := parsePageToken(r.Token)
	return err == nil && token.Rest
}

// ValidateTokenFirst is Validate for namespaces and rollouts. Flipt v1 has no rules for
// their limits, so it reports an invalid page token whatever the limit is (contract 6).
func (r PageRequest) ValidateTokenFirst() error {
	if _, err := r.start(); err != nil {
		return err
	}
	return r.Validate()
}

// start returns the index of the first item of the page.
func (r PageRequest) start() (int, error) {
	if r.Token == "" {
		return int(r.Offset), nil
	}
	token, err := parsePageToken(r.Token)
	return token.Offset, err
}

// After returns the token of the page that starts after the first n items of this one.
// It is for a response that ends there because of its size. key is the key or id of the
// next item. r must be valid.
func (r PageRequest) After(n int, key string) string {
	start, _ := r.start() // already validated
	return placeToken(pageToken{Key: key, Offset: start + n, Rest: r.Limit == 0})
}

// paginate returns the requested page of items. The request must have been validated.
// keyOf returns the key or id of an item for the token of the next page.
func paginate[T any](items []T, request PageRequest, keyOf func(T) string) ([]T, Page, error) {
	part := func(offset, n int) []T { return items[offset : offset+n] }
	return paginateParts(len(items), part, request, keyOf)
}

// paginateSorted is paginate for a sorted list.
func paginateSorted[T any](items guidon.Sorted[T], request PageRequest, keyOf func(T) string) ([]T, Page, error) {
	return paginateParts(items.Len(), items.Part, request, keyOf)
}

func paginateParts[T any](total int, part func(offset, n int) []T, request PageRequest, keyOf func(T) string) ([]T, Page, error) {
	start, err := request.start()
	if err != nil {
		return nil, Page{}, err
	}
	page := Page{Total: total}
	start = min(start, total)
	n := total - start
	if request.Limit > 0 && int(request.Limit) < n {
		n = int(request.Limit)
		page.NextToken = request.After(n, keyOf(part(start+n, 1)[0]))
	}
	return part(start, n), page, nil
}

// Page sizes of the lists of authentications, of changes and of deliveries.
const (
	defaultPage = 25
	maxPage     = 100
)

// pageSize returns how many items a page of these lists has at most.
func pageSize(limit int) int { return cmp.Or(min(limit, maxPage), defaultPage) }

// AuthenticationsAfter returns the token of the page that starts after the first n
// authentications of the page with the given token. These tokens are plain offsets (contract 6).
func AuthenticationsAfter(token string, n int) string {
	return strconv.Itoa(authenticationsStart(token) + n)
}

// authenticationsStart returns the index of the first authentication of the page. A
// token that is not a number means the first page.
func authenticationsStart(token string) int {
	start, err := strconv.Atoi(token)
	if err != nil {
		return 0
	}
	return max(start, 0)
}

// paginateTokens returns the requested page of authentications.
func paginateTokens(items []*Authentication, limit int32, token string) ([]*Authentication, string, error) {
	if limit < 0 {
		return nil, "", guidon.Errorf(guidon.InvalidArgument, "invalid field limit: must be greater than or equal to '0'")
	}
	size := pageSize(int(limit))
	start := min(authenticationsStart(token), len(items))
	if size >= len(items)-start {
		return items[start:], "", nil
	}
	return items[start : start+size], strconv.Itoa(start + size), nil
}
