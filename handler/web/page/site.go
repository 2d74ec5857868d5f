package page

import (
	"errors"
	"net/http"
	"regexp"
	"strings"
	"time"

	"github.com/guidonhq/guidon/handler/call"
	"github.com/guidonhq/guidon/handler/exchange"
	"github.com/guidonhq/guidon/service"
)

// Config configures a [Site]. CheckReturnTo is required.
type Config struct {
	// PublicPath is the path of server.public_url, to which the addresses of pages are
	// relative: "" or such as "/base", without a slash at the end.
	PublicPath string
	// PublicURL is server.public_url, or "" if it is not known.
	PublicURL string
	// RemovedPath returns the prefix that the runtime has removed from the path of the
	// request. Without a PublicURL it takes the place of PublicPath. It is optional.
	RemovedPath func(*http.Request) string
	Required    bool               // credentials are required; otherwise there is nothing to sign in to
	Session     call.SessionCookie // the cookie of browser sessions
	// CheckReturnTo returns an error unless a browser can be sent to the path, which is
	// relative to PublicPath, without leaving the service.
	CheckReturnTo func(path string) error
	Version       string // of the service
	ReadOnly      bool   // changes are refused, except of sessions, tokens and bindings
	Streams       bool   // the service has event streams
	Counts        bool   // evaluations are counted
	// Retention is how long change records are kept; 0 means as long as their namespace.
	Retention time.Duration
	Interface Interface
	Favorites service.FavoriteStore // of accounts; nil means that browsers keep all favorites
	Now       func() time.Time      // nil means time.Now
}

// Interface is how the operator wants the pages. The zero Interface is usable.
type Interface struct {
	Disabled         bool   // only the pages of signing in are served
	DefaultTheme     Theme  // for visitors who chose none
	TopbarColor      string // such as #c0ffee; "" for none
	TopbarLabel      string // above all pages; "" for none
	DefaultNamespace string // where visitors begin; "" means "default"
	Message          string // on every page; "" for none
}

// Site is the configuration and operations that the pages of one service share. It is safe for concurrent use.
type Site struct {
	Config
	operations map[string]*call.Operation
}

// publicPaths are the valid values of [Config].PublicPath.
var publicPaths = regexp.MustCompile(`^(/[A-Za-z0-9._~-]+)*$`)

// NewSite returns a site. It panics if the configuration is not valid.
func NewSite(config Config) *Site {
	switch {
	case !publicPaths.MatchString(config.PublicPath):
		panic(errors.New("page: invalid PublicPath: must be empty, or segments of letters, digits, -, ., _ and ~"))
	case config.CheckReturnTo == nil:
		panic(errors.New("page: CheckReturnTo is required"))
	}
	if config.Now == nil {
		config.Now = time.Now
	}
	return &Site{Config: config, operations: make(map[string]*call.Operation)}
}

// Use makes the operations of the rows available to pages. It must be called before pages
// are served. It panics if a needed one is missing.
func (s *Site) Use(rows []exchange.Row, needed ...string) {
	for _, row := range rows {
		s.operations[row.Name] = row.Operation
	}
	for _, name := range needed {
		if s.operations[name] == nil {
			panic("page: there is no operation " + name)
		}
	}
}

// For returns the site as the sender of the request reaches it: below the prefix that the
// runtime has removed from the path, if that is known from nowhere else. A prefix that is
// not valid as a PublicPath is left out.
func (s *Site) For(r *http.Request) *Site {
	if s.RemovedPath == nil || s.PublicURL != "" {
		return s
	}
	prefix := strings.TrimSuffix(s.RemovedPath(r), "/")
	if prefix == s.PublicPath || len(prefix) > maxPublicPath || !publicPaths.MatchString(prefix) {
		return s
	}
	below := *s
	below.PublicPath = prefix
	return &below
}

// maxPublicPath limits a prefix that a request brings, in bytes.
const maxPublicPath = 512

// Path returns the path for a browser of a path below the public path.
func (s *Site) Path(below string) string { return s.PublicPath + below }

// SignInPath is where visitors sign in, below the public path.
const SignInPath = "/sign-in"

// start is the page that sends visitors to the namespace that they visited last.
const start = "/"

// Home returns where visitors are sent after signing in unless they came from another
// page.
func (s *Site) Home() string {
	if s.Interface.Disabled {
		return SignInPath
	}
	return start
}

// ReturnTo returns where to send the visitor after signing in: to the path, to the path
// without its query if only that is allowed, or otherwise to where visitors begin.
func (s *Site) ReturnTo(path string) string {
	if path == "" {
		return s.Home()
	}
	withoutQuery, _, _ := strings.Cut(path, "?")
	for _, candidate := range []string{path, withoutQuery} {
		if s.CheckReturnTo(candidate) == nil {
			return candidate
		}
	}
	return s.Home()
}

// signInBeside returns the address of the sign-in page for visitors who open it in another
// tab and keeps the page that they have. again means that their session has not ended yet.
func (s *Site) signInBeside(again bool) string {
	yes := ""
	if again {
		yes = "yes"
	}
	return s.Path(SignInPath + Query("again", yes, "return_to", SignInPath+"?back=yes"))
}

// SignInFor returns the address of the sign-in page for a visitor on the way to a path that
// is allowed.
func (s *Site) SignInFor(path string) string {
	if path == s.Home() {
		return s.Path(SignInPath)
	}
	return s.Path(SignInPath + Query("return_to", path))
}
