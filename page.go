package guidon

import (
	"encoding/base64"
	"encoding/json"
	"strconv"
)

// PageRequest asks for a part of a list (contract 6).
type PageRequest struct {
	Limit  int32  // 0 is everything
	Offset int32  // deprecated, but honoured; Token wins
	Token  string // NextToken of the page before
}

// Page says where a page of a list stands.
type Page struct {
	NextToken string // empty on the last page
	Total     int    // of the whole list
}

// pageToken is what a page token holds. Key is there for readers; only Offset
// is read back.
type pageToken struct {
	Key    string `json:"key"`
	Offset int    `json:"offset"`
}

func (r PageRequest) validate() error {
	switch {
	case r.Limit < 0:
		return Errorf(InvalidArgument, "invalid field limit: must be greater than or equal to '0'")
	case r.Offset < 0:
		return Errorf(InvalidArgument, "invalid field offset: must be greater than or equal to '0'")
	case r.Limit == 0 && (r.Offset > 0 || r.Token != ""):
		return Errorf(InvalidArgument, "limit must be set when offset or pageToken is set")
	}
	return nil
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
	invalid := Errorf(InvalidArgument, "pageToken is not valid: %q", r.Token)
	text, err := base64.StdEncoding.DecodeString(r.Token)
	if err != nil {
		return 0, invalid
	}
	var token pageToken
	if err := json.Unmarshal(text, &token); err != nil || token.Offset < 0 {
		return 0, invalid
	}
	return token.Offset, nil
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
		text, err := json.Marshal(pageToken{Key: keyOf(items[end]), Offset: end})
		if err != nil {
			return nil, Page{}, err
		}
		page.NextToken = base64.StdEncoding.EncodeToString(text)
	}
	return items[start:end], page, nil
}

// Bounds of the token list, which pages by plain offset (contract 6).
const (
	defaultTokenPage = 25
	maxTokenPage     = 100
)

// paginateTokens returns the page of authentications that is asked for. A page
// token that is not a number means the first page.
func paginateTokens(items []*Authentication, limit int32, token string) ([]*Authentication, string, error) {
	if limit < 0 {
		return nil, "", Errorf(InvalidArgument, "invalid field limit: must be greater than or equal to '0'")
	}
	size := min(int(limit), maxTokenPage)
	if size == 0 {
		size = defaultTokenPage
	}
	start, err := strconv.Atoi(token)
	if err != nil || start < 0 {
		start = 0
	}
	start = min(start, len(items))
	if size >= len(items)-start {
		return items[start:], "", nil
	}
	return items[start : start+size], strconv.Itoa(start + size), nil
}
