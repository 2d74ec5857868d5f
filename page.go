package guidon

import (
	"encoding/base64"
	"encoding/json"
	"strconv"
)

// PageRequest asks for a part of a list (contract 6).
type PageRequest struct {
	Limit  int32  // 0 is as much as one answer takes
	Offset int32  // deprecated, but honoured; Token wins
	Token  string // NextToken of the page before
}

// Page says where a page of a list stands.
type Page struct {
	NextToken string // empty on the last page
	Total     int    // of the whole list
}

// pageToken is what a page token holds. Key is there for readers and not read
// back.
type pageToken struct {
	Key    string `json:"key"`
	Offset int    `json:"offset"`
	// Rest says that the page before had no limit, so that the next needs none.
	Rest bool `json:"rest,omitempty"`
}

func (t pageToken) encode() string {
	text, _ := json.Marshal(t) // texts, a number and a truth value always have a form
	return base64.StdEncoding.EncodeToString(text)
}

// errPageToken is for a token that no page came with.
func errPageToken(token string) error {
	return Errorf(InvalidArgument, "pageToken is not valid: %q", token)
}

// parsePageToken returns what the token holds.
func parsePageToken(token string) (pageToken, error) {
	var t pageToken
	text, err := base64.StdEncoding.DecodeString(token)
	if err == nil {
		err = json.Unmarshal(text, &t)
	}
	if err != nil || t.Offset < 0 {
		return pageToken{}, errPageToken(token)
	}
	return t, nil
}

func (r PageRequest) validate() error {
	switch {
	case r.Limit < 0:
		return Errorf(InvalidArgument, "invalid field limit: must be greater than or equal to '0'")
	case r.Offset < 0:
		return Errorf(InvalidArgument, "invalid field offset: must be greater than or equal to '0'")
	case r.Limit == 0 && (r.Offset > 0 || r.Token != "") && !r.asksForRest():
		return Errorf(InvalidArgument, "limit must be set when offset or pageToken is set")
	}
	return nil
}

// asksForRest reports whether the token is of a page without a limit, which was
// ended because of its size.
func (r PageRequest) asksForRest() bool {
	token, err := parsePageToken(r.Token)
	return err == nil && token.Rest
}

// validateTokenFirst is validate for namespaces and rollouts: the reference, which has
// no rule about their limits, reports an invalid page token whatever the limit is
// (contract 6).
func (r PageRequest) validateTokenFirst() error {
	if _, err := r.start(); err != nil {
		return err
	}
	return r.validate()
}

// start returns the index of the first item of the page.
func (r PageRequest) start() (int, error) {
	if r.Token == "" {
		return int(r.Offset), nil
	}
	token, err := parsePageToken(r.Token)
	return token.Offset, err
}

// After returns the token of what follows the first n items of the page, for an
// answer that ends with them because more would be too large. key is the key or id
// of the item that comes next.
func (r PageRequest) After(n int, key string) string {
	start, _ := r.start() // a page was found by it
	return pageToken{Key: key, Offset: start + n, Rest: r.Limit == 0}.encode()
}

// paginate returns the page of items that is asked for. The request has been
// validated; keyOf names an item in the token of the next page.
func paginate[T any](items []T, request PageRequest, keyOf func(T) string) ([]T, Page, error) {
	start, err := request.start()
	if err != nil {
		return nil, Page{}, err
	}
	page := Page{Total: len(items)}
	start = min(start, len(items))
	end := len(items)
	if request.Limit > 0 && int(request.Limit) < end-start {
		end = start + int(request.Limit)
		page.NextToken = request.After(int(request.Limit), keyOf(items[end]))
	}
	return items[start:end], page, nil
}

// Bounds of the token list, which pages by plain offset (contract 6).
const (
	defaultTokenPage = 25
	maxTokenPage     = 100
)

// AuthenticationsAfter returns the token of what follows the first n
// authentications of the page that the token is of.
func AuthenticationsAfter(token string, n int) string {
	return strconv.Itoa(authenticationsStart(token) + n)
}

// authenticationsStart returns the index of the first authentication of a page. A
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
		return nil, "", Errorf(InvalidArgument, "invalid field limit: must be greater than or equal to '0'")
	}
	size := min(int(limit), maxTokenPage)
	if size == 0 {
		size = defaultTokenPage
	}
	start := min(authenticationsStart(token), len(items))
	if size >= len(items)-start {
		return items[start:], "", nil
	}
	return items[start : start+size], strconv.Itoa(start + size), nil
}
