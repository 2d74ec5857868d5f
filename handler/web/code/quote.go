package code

import (
	"strings"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/handler/web/page"
)

// TokenVariable is the environment variable with the token.
const TokenVariable = "GUIDON_TOKEN" // #nosec G101 -- its name

// NamespaceHeader is the header of OFREP that names the namespace.
const NamespaceHeader = "X-Guidon-Namespace"

const defaultNamespace = guidon.DefaultNamespace

// ShellQuote returns the text as one word of a shell.
func ShellQuote(text string) string { return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'" }

// textIn returns the text as a string of JSON, which the languages here also read.
func textIn(text string) string { return page.JSONText(text) }
