package codehost

import (
	"context"
	"slices"
	"strings"
)

// item is a kind of data of the API about a person. Its value names it in errors.
type item string

const (
	account       item = "account"
	emails        item = "e-mail addresses"
	organizations item = "organizations"
	teams         item = "teams"
)

// kind describes a type of code hosts.
type kind struct {
	server, api string // the public host, or ""
	apiPath     string // of other hosts
	// The endpoints of OAuth, below the server.
	authorizePath, tokenPath string
	scopes                   []string // by default
	// needs has the scopes for each item, of which any one suffices. No scope is needed if
	// there are none. The host does not have an item that is missing.
	needs map[item][]string
	// refusals are descriptions of errors that mean a rejected code, although the code of
	// the error means rejected client credentials.
	refusals []string
	read     func(context.Context, *api) (*person, error)
}

var kinds = map[string]*kind{GitHub: gitHub, GitLab: gitLab, Gitea: gitea}

// covers reports whether the item can be read with the scopes.
func (k *kind) covers(i item, scopes []string) bool {
	any, has := k.needs[i]
	return has && (len(any) == 0 || slices.ContainsFunc(any, func(s string) bool { return slices.Contains(scopes, s) }))
}

// anyOf returns the scopes for the item as text.
func (k *kind) anyOf(i item) string { return strings.Join(k.needs[i], " or ") }
