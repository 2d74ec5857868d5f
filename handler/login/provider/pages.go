package provider

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
)

// ErrMorePages says that a list continues after the last page that was read.
var ErrMorePages = fmt.Errorf("the list has more than %d pages", MaxPages)

// Pages gets a list that is split into pages, by the header Link of RFC 8288, and calls
// visit with the body of each. An error of visit ends the list and is returned. After
// [MaxPages] pages the error is [ErrMorePages].
//
// The next page must have the scheme and the host of the first: the token is sent
// along.
func (c *Client) Pages(ctx context.Context, first Request, visit func(body []byte) error) error {
	r := first
	for range MaxPages {
		response, err := c.Do(ctx, r)
		if err != nil {
			return err
		}
		if err := visit(response.Body); err != nil {
			return err
		}
		next, err := nextPage(r.URL, response.Header)
		if err != nil {
			return c.Unavailable(&Failure{Provider: c.name, URL: shown(r.URL), Err: err})
		}
		if next == "" {
			return nil
		}
		r.URL = next
	}
	return fmt.Errorf("provider %q: %s: %w", c.name, shown(first.URL), ErrMorePages)
}

// nextPage returns the URL of the next page, or "" after the last.
func nextPage(current string, h http.Header) (string, error) {
	target := linkNext(h.Values("Link"))
	if target == "" {
		return "", nil
	}
	base, err := url.Parse(current)
	if err != nil {
		return "", err
	}
	next, err := base.Parse(target)
	if err != nil {
		return "", errors.New("the link to the next page is malformed")
	}
	if next.Scheme != base.Scheme || next.Host != base.Host || next.User != nil {
		return "", errors.New("the next page is on another host")
	}
	return next.String(), nil
}

// linkNext returns the target of the first link with the relation next, or "".
func linkNext(headers []string) string {
	for _, rest := range headers {
		for {
			_, after, found := strings.Cut(rest, "<")
			if !found {
				break
			}
			target, params, found := strings.Cut(after, ">")
			if !found {
				break
			}
			params, rest = cutUnquoted(params)
			if hasRelation(params, "next") {
				return strings.TrimSpace(target)
			}
		}
	}
	return ""
}

// cutUnquoted cuts s around the first comma that is not within quotes.
func cutUnquoted(s string) (before, after string) {
	quoted := false
	for i := range len(s) {
		switch {
		case s[i] == '"':
			quoted = !quoted
		case s[i] == ',' && !quoted:
			return s[:i], s[i+1:]
		}
	}
	return s, ""
}

// hasRelation reports whether the parameters of a link name the relation.
func hasRelation(params, relation string) bool {
	for param := range strings.SplitSeq(params, ";") {
		name, value, _ := strings.Cut(param, "=")
		if !strings.EqualFold(strings.TrimSpace(name), "rel") {
			continue
		}
		for have := range strings.FieldsSeq(strings.Trim(strings.TrimSpace(value), `"`)) {
			if strings.EqualFold(have, relation) {
				return true
			}
		}
		return false // RFC 8288: only the first rel counts
	}
	return false
}
