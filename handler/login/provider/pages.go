package provider

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"slices"
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

// A link with its parameters, in which a comma may be quoted, and the relations in these: only the first rel counts.
var (
	link      = regexp.MustCompile(`<([^>]*)>((?:[^,"]|"[^"]*")*)`)
	relations = regexp.MustCompile(`(?i);\s*rel\s*=\s*"?([^";]*)`)
)

// linkNext returns the target of the first link with the relation next, or "".
func linkNext(headers []string) string {
	for _, l := range link.FindAllStringSubmatch(strings.Join(headers, ","), -1) {
		target, rel := l[1], relations.FindStringSubmatch(l[2])
		if rel != nil && slices.Contains(strings.Fields(strings.ToLower(rel[1])), "next") {
			return strings.TrimSpace(target)
		}
	}
	return ""
}
