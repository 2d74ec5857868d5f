package config

import (
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/guidonhq/guidon/service"
)

// UI configures the web interface.
type UI struct {
	Enabled          bool   `key:"enabled" default:"true" doc:"Serves the web interface. The pages of signing in are served without it, too."`
	DefaultTheme     string `key:"default_theme" default:"system" options:"system light dark" doc:"Theme of people who have not chosen one; system is that of their device."`
	Topbar           Topbar `key:"topbar" doc:"Marks of this installation on every page, so that people can tell it from others."`
	DefaultNamespace string `key:"default_namespace" doc:"Key of the namespace that people see first, if they may read it. Empty means the one that they used last, or else the first in the list."`
	Message          string `key:"message" doc:"Message of the operator on every page, such as an announcement of maintenance: one line of plain text, of at most 500 bytes. Empty means none."`
}

// Topbar configures what every page shows of the installation.
type Topbar struct {
	Color string `key:"color" doc:"Color of the top of the page: #rgb or #rrggbb, in quotes in the file, where # begins a comment. Empty means none."`
	Label string `key:"label" doc:"Name of the installation, such as Production EU: one line of at most 64 bytes. Empty means none."`
}

const (
	maxLabel   = 64  // bytes
	maxMessage = 500 // bytes
)

var hexColor = regexp.MustCompile(`^#([0-9A-Fa-f]{3}|[0-9A-Fa-f]{6})$`)

func (u UI) check(found *problems) {
	at := found.in("ui")
	if c := u.Topbar.Color; c != "" && !hexColor.MatchString(c) {
		at.key("topbar.color", "must be a color such as #1a2b3c or #abc, not "+strconv.Quote(c))
	}
	at.check("topbar.label", checkLine(u.Topbar.Label, maxLabel))
	at.check("message", checkLine(u.Message, maxMessage))
	if n := u.DefaultNamespace; n != "" && !service.ValidNamespaceKey(n) {
		at.key("default_namespace", "must be the key of a namespace, not "+strconv.Quote(n))
	}
}

// checkLine checks a text that pages show on one line.
func checkLine(text string, most int) error {
	switch {
	case len(text) > most:
		return fmt.Errorf("must have at most %d bytes, not %d", most, len(text))
	case !utf8.ValidString(text) || strings.ContainsFunc(text, func(r rune) bool { return !unicode.IsPrint(r) }):
		return errors.New("must consist of printable characters, on one line")
	case text != strings.TrimSpace(text):
		return errors.New("must not begin or end with a space")
	}
	return nil
}
