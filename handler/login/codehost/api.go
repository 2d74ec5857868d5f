package codehost

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"regexp"
	"strconv"
	"strings"

	"golang.org/x/oauth2"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/handler/login/provider"
)

// pageSize is how many elements of a list are requested at a time.
const pageSize = 100

// api reads from the API of a host with the access token of one person.
type api struct {
	host    *Host
	token   string
	granted string // the scopes that the host says it granted, or ""
}

func newAPI(h *Host, token *oauth2.Token) *api {
	granted, _ := token.Extra("scope").(string)
	return &api{host: h, token: token.AccessToken, granted: granted}
}

func (a *api) request(url string) provider.Request {
	return provider.Request{URL: url, Bearer: a.token}
}

// get gets the item at the URL.
func (a *api) get(ctx context.Context, i item, url string, into any) error {
	response, err := a.host.client.Do(ctx, a.request(url))
	if err != nil {
		return a.rejected(i, err)
	}
	return a.decode(url, response.Body, into)
}

func (a *api) decode(url string, body []byte, into any) error {
	if err := json.Unmarshal(body, into); err != nil {
		return a.unusable(url, fmt.Errorf("the response is not the expected JSON: %w", err))
	}
	return nil
}

// unusable returns the error for a response that cannot be used.
func (a *api) unusable(url string, err error) error {
	return a.host.client.Unavailable(&provider.Failure{Provider: a.host.client.Name(), URL: url, Err: err})
}

// maxPages limits the pages of a list.
const maxPages = 10

var errMorePages = fmt.Errorf("the list has more than %d pages", maxPages)

// paging is how a host splits a list into pages.
type paging struct {
	size   string                                           // the parameter for the size of a page
	isLast func(h http.Header, page, all int) (bool, error) // of a page with so many elements, of so many until now
}

// nextLink is a link to the next page (RFC 8288).
var nextLink = regexp.MustCompile(`(?i);\s*rel\s*=\s*"?([^",;]*\s)?next\b`)

var (
	// Each page but the last links to the next one.
	linked = paging{"per_page", func(h http.Header, _, _ int) (bool, error) {
		return !nextLink.MatchString(strings.Join(h.Values("Link"), ",")), nil
	}}
	// Pages have the number of all elements, or else an empty one is the last. The host may send fewer
	// elements on each page than requested.
	counted = paging{"limit", func(h http.Header, page, all int) (bool, error) {
		total, err := strconv.Atoi(h.Get("X-Total-Count"))
		if err == nil && page == 0 && all < total {
			return false, fmt.Errorf("the list ends after %d of %d elements", all, total)
		}
		return page == 0 || err == nil && all >= total, nil
	}}
	whole = paging{"limit", func(http.Header, int, int) (bool, error) { return true, nil }}
)

// getList gets the list at the URL by the numbers of its pages, until the last one. Links to other pages are not
// followed: the access token is sent along, and Gitea makes some links from its public URL, which need not be that
// of the API.
func getList[T any](ctx context.Context, a *api, i item, url string, p paging) ([]T, error) {
	var all []T
	for number := 1; number <= maxPages; number++ {
		response, err := a.host.client.Do(ctx, a.request(fmt.Sprintf("%s?page=%d&%s=%d", url, number, p.size, pageSize)))
		if err != nil {
			return nil, a.rejected(i, err)
		}
		page, err := decodeList[T](a, url, response.Body)
		if err != nil {
			return nil, err
		}
		all = append(all, page...)
		last, err := p.isLast(response.Header, len(page), len(all))
		if err != nil {
			return nil, a.unusable(url, err)
		}
		if last {
			return all, nil
		}
	}
	return nil, a.rejected(i, errMorePages)
}

// decodeList decodes a page of a list, which must not be null.
func decodeList[T any](a *api, url string, body []byte) ([]T, error) {
	var page []T
	err := a.decode(url, body, &page)
	if err == nil && page == nil {
		err = a.unusable(url, errors.New("the list is null"))
	}
	return page, err
}

// rejected returns the error for a request that failed with err.
func (a *api) rejected(i item, err error) error {
	if errors.Is(err, errMorePages) {
		const hint = "request other scopes if no allow list or binding needs it"
		return denied("you have too many "+string(i)+" at the code host", fmt.Errorf("the %s cannot be read to the end; %s: %w", i, hint, err))
	}
	failure, ok := err.(*provider.Failure)
	switch {
	case !ok, failure.Status == 0: // Unavailable, or the context has ended
		return err
	case i == account && failure.Status == http.StatusForbidden:
		return denied("your account at the code host cannot be used", failure)
	case i == account && failure.Status == http.StatusNotFound:
		return a.host.client.Unavailable(fmt.Errorf("cannot find the API; check api_url: %w", failure))
	case failure.Status == http.StatusForbidden, i != account && failure.Status == http.StatusNotFound:
		return a.withheld(i, failure)
	}
	return a.host.client.Unavailable(failure)
}

// withheld returns the error for an item that the access token does not suffice for.
func (a *api) withheld(i item, err error) error {
	granted := "the host does not say which scopes it granted"
	if a.granted != "" {
		granted = fmt.Sprintf("the host granted %q", provider.Printable(a.granted))
	}
	cause := fmt.Errorf("the access token does not suffice for the %s, which need the scope %s; %s: %w", i, a.host.kind.anyOf(i), granted, err)
	return denied("the code host does not let your "+string(i)+" be read", cause)
}

// denied returns the error for a person who is known, but cannot be let in.
func denied(message string, err error) error {
	return &guidon.Error{Code: guidon.PermissionDenied, Message: message, Err: err}
}
