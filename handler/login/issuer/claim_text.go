package issuer

import (
	"bytes"
	"encoding/json"
	"unicode/utf8"

	"github.com/guidonhq/guidon/service"
)

// MaxClaim is the maximum length of names and ids in claims, in characters.
const MaxClaim = 255

// IsName reports whether the text can be a name or an id: 1 to [MaxText] characters that
// are all [IsClean].
func IsName(text string) bool {
	return text != "" && utf8.RuneCountInString(text) <= MaxClaim && service.IsClean(text)
}

// ClaimTexts returns the strings of an array, or the one string that the value is, each once.
// It skips other values, and strings that are not valid.
func ClaimTexts(value any, valid func(string) bool) []string {
	values, ok := value.([]any)
	if !ok {
		values = []any{value}
	}
	var texts []string
	seen := map[string]bool{}
	for _, value := range values {
		text, ok := value.(string)
		if ok && !seen[text] && valid(text) {
			seen[text] = true
			texts = append(texts, text)
		}
	}
	return texts
}

// ClaimText returns a string as it is, "" for nil, and any other value as JSON.
func ClaimText(value any) string {
	switch value := value.(type) {
	case nil:
		return ""
	case string:
		return value
	}
	var b bytes.Buffer
	encoder := json.NewEncoder(&b)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(value); err != nil {
		return "" // not a value of an Object
	}
	return string(bytes.TrimSuffix(b.Bytes(), []byte("\n")))
}
