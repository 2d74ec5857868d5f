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
	Enabled          bool   `key:"enabled" default:"true"`
	DefaultTheme     string `key:"default_theme" default:"system" options:"system light dark"`
	Topbar           Topbar `key:"topbar"`
	DefaultNamespace string `key:"default_namespace"`
	Message          string `key:"message"`
}

// Topbar configures what every page shows of the installation.
type Topbar struct {
	Color string `key:"color"`
	Label string `key:"label"`
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
