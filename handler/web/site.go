package web

import (
	"errors"
	"regexp"

	"github.com/guidonhq/guidon/handler/call"
	"github.com/guidonhq/guidon/handler/exchange"
)

// Config configures a [Site]. CheckReturnTo is required.
type Config struct {
	// PublicPath is the path of server.public_url, to which the addresses of pages are
	// relative: "" or such as "/base", without a slash at the end.
	PublicPath string
	Required   bool               // credentials are required; otherwise there is nothing to sign in to
	Session    call.SessionCookie // the cookie of browser sessions
	// CheckReturnTo returns an error unless a browser can be sent to the path, which is
	// relative to PublicPath, without leaving the service.
	CheckReturnTo func(path string) error
}

// Site renders pages. It is safe for concurrent use.
type Site struct{ config Config }

// publicPaths are the valid values of [Config].PublicPath.
var publicPaths = regexp.MustCompile(`^(/[A-Za-z0-9._~-]+)*$`)

// New returns a site. It panics if the configuration is not valid.
func New(config Config) *Site {
	switch {
	case !publicPaths.MatchString(config.PublicPath):
		panic(errors.New("web: invalid PublicPath: must be empty, or segments of letters, digits, -, ., _ and ~"))
	case config.CheckReturnTo == nil:
		panic(errors.New("web: CheckReturnTo is required"))
	}
	return &Site{config: config}
}

// path returns the path for a browser.
func (s *Site) path(below string) string { return s.config.PublicPath + below }

// The addresses of the pages.
const (
	signInPath      = "/sign-in"
	signOutPath     = "/sign-in/out"
	commandLinePath = "/sign-in/cli"
	assetsPath      = "/assets"
)

// pages serves the pages of a site. It is safe for concurrent use.
type pages struct {
	*Site
	operations operations
}

// Mount returns the pages with their addresses. rows are those of the API; Mount panics if
// an operation is missing that a page needs.
func (s *Site) Mount(rows []exchange.Row) exchange.Mount {
	p := &pages{Site: s, operations: findOperations(rows)}
	return exchange.Mount{Prefixes: []string{signInPath, assetsPath}, Serve: p.serve, Error: s.replyError}
}
