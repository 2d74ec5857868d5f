package code

import (
	"bytes"
	"encoding/json"
	"net/url"
	"strings"

	"github.com/guidonhq/guidon"
)

// TokenVariable is the environment variable with the token.
const TokenVariable = "GUIDON_TOKEN" // #nosec G101 -- its name

// NamespaceHeader is the header of OFREP that names the namespace.
const NamespaceHeader = "X-Guidon-Namespace"

const defaultNamespace = guidon.DefaultNamespace

// ShellQuote returns the text as one word of a shell.
func ShellQuote(text string) string { return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'" }

// PathEscape returns the text as a segment of a path.
func PathEscape(text string) string { return url.PathEscape(text) }

// textIn returns the text as a string of JSON, which the languages here also read: without
// characters that HTML would need escaped.
func textIn(text string) string {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	_ = e.Encode(text) // cannot fail for a string
	return strings.TrimSuffix(b.String(), "\n")
}
