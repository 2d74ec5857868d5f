package codehost

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strconv"

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

// getList gets a list that is never split into pages.
func getList[T any](ctx context.Context, a *api, i item, url string) ([]T, error) {
	response, err := a.host.client.Do(ctx, a.request(url))
	if err != nil {
		return nil, a.rejected(i, err)
	}
	return decodeList[T](a, url, response.Body)
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

// linkedList gets the list at the URL, whose pages are linked to each other.
func linkedList[T any](ctx context.Context, a *api, i item, url string) ([]T, error) {
	var all []T
	err := a.host.client.Pages(ctx, a.request(fmt.Sprintf("%s?per_page=%d", url, pageSize)), func(body []byte) error {
		page, err := decodeList[T](a, url, body)
		all = append(all, page...)
		return err
	})
	if err != nil {
		return nil, a.rejected(i, err)
	}
	return all, nil
}

// numberedList gets the list at the URL by the numbers of its pages: Gitea has no links
// in some lists, and makes those in others from its public URL, which need not be that of
// the API. It may send fewer elements on each page than requested.
func numberedList[T any](ctx context.Context, a *api, i item, url string) ([]T, error) {
	var all []T
	for number := 1; number <= provider.MaxPages; number++ {
		response, err := a.host.client.Do(ctx, a.request(fmt.Sprintf("%s?page=%d&limit=%d", url, number, pageSize)))
		if err != nil {
			return nil, a.rejected(i, err)
		}
		page, err := decodeList[T](a, url, response.Body)
		if err != nil {
			return nil, err
		}
		all = append(all, page...)
		total, err := strconv.Atoi(response.Header.Get("X-Total-Count"))
		known := err == nil
		switch {
		case known && len(all) >= total:
			return all, nil
		case known && len(page) == 0:
			return nil, a.unusable(url, fmt.Errorf("the list ends after %d of %d elements", len(all), total))
		case len(page) == 0:
			return all, nil
		}
	}
	return nil, a.rejected(i, provider.ErrMorePages)
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
	if errors.Is(err, provider.ErrMorePages) {
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
