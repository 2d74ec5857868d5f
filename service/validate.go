package service

import (
	"bytes"
	"encoding/json"
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/internal/lists"
)

// maxTextLength is the maximum length of keys, names, ids, properties and operators, in
// characters. All supported databases can index that length (contract 4.1).
const maxTextLength = 255

// maxAttachmentSize is the maximum size of an attachment, in bytes (contract 4.2).
const maxAttachmentSize = 1000 * 1024

// maxJSONDepth limits the nesting of attachments and metadata, so that every document
// that can be stored can be exported and imported again.
const maxJSONDepth = 50

var keyPattern = regexp.MustCompile(`^[-_,A-Za-z0-9]+$`)

// ValidNamespaceKey reports whether a namespace can have the key.
func ValidNamespaceKey(key string) bool {
	return keyPattern.MatchString(key) && checkLength("", key) == nil
}

func invalidField(field, rule string) error {
	return guidon.Errorf(guidon.InvalidArgument, "invalid field %s: %s", field, rule)
}

func emptyField(field string) error {
	return invalidField(field, "must not be empty")
}

// field is a named value of a request, for requireAll.
type field struct{ name, value string }

// requireAll returns an error for the first field that is empty or too long.
func requireAll(fields ...field) error {
	for _, f := range fields {
		if f.value == "" {
			return emptyField(f.name)
		}
		if err := checkLength(f.name, f.value); err != nil {
			return err
		}
	}
	return nil
}

// NotEmpty returns InvalidArgument if the value of the named field is empty.
func NotEmpty(name, value string) error {
	if value == "" {
		return emptyField(name)
	}
	return nil
}

// ExactlyOne returns an error unless exactly one of the fields is set.
func ExactlyOne(fields string, set ...bool) error {
	n := 0
	for _, is := range set {
		if is {
			n++
		}
	}
	switch n {
	case 0:
		return emptyField(fields)
	case 1:
		return nil
	}
	return invalidField(fields, "only one can be present")
}

func checkLength(name, value string) error {
	if len(value) > maxTextLength && utf8.RuneCountInString(value) > maxTextLength {
		return invalidField(name, "must not be longer than 255 characters")
	}
	return nil
}

// checkTexts returns an error for the first field that some database cannot store.
func checkTexts(fields ...field) error {
	for _, f := range fields {
		switch {
		case strings.IndexByte(f.value, 0) >= 0:
			return invalidField(f.name, "must not contain a NUL character")
		case !utf8.ValidString(f.value):
			return invalidField(f.name, "must be valid UTF-8")
		}
	}
	return nil
}

// checkNewKey checks the key and name of a new object.
func checkNewKey(key, name string) error {
	if key == "" {
		return emptyField("key")
	}
	if !keyPattern.MatchString(key) {
		return invalidField("key", "contains invalid characters")
	}
	return requireAll(field{"key", key}, field{"name", name})
}

// checkAttachment checks an attachment and returns it compacted (contract 4.2).
func checkAttachment(attachment string) (string, error) {
	if attachment == "" {
		return "", nil
	}
	var compact bytes.Buffer
	if err := json.Compact(&compact, []byte(attachment)); err != nil {
		return "", invalidField("attachment", "must be a json string")
	}
	if len(attachment) > maxAttachmentSize {
		return "", invalidField("attachment", "must be less than 1000 KB")
	}
	if err := checkDepth("attachment", compact.Bytes()); err != nil {
		return "", err
	}
	return compact.String(), nil
}

// checkMetadata checks the metadata of a flag, a JSON object or nothing, and returns it
// compacted. It returns nil for an empty object.
func checkMetadata(metadata json.RawMessage) (json.RawMessage, error) {
	if len(metadata) == 0 {
		return nil, nil
	}
	var object map[string]json.RawMessage
	if err := json.Unmarshal(metadata, &object); err != nil {
		return nil, invalidField("metadata", "must be a json object")
	}
	if len(object) == 0 {
		return nil, nil
	}
	var compact bytes.Buffer
	if err := json.Compact(&compact, metadata); err != nil {
		return nil, invalidField("metadata", "must be a json object")
	}
	return compact.Bytes(), checkDepth("metadata", compact.Bytes())
}

// checkDepth rejects JSON that is nested too deeply. text must be valid JSON.
func checkDepth(name string, text []byte) error {
	depth, quoted := 0, false
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case quoted && c == '\\':
			i++ // skip the escaped character
		case c == '"':
			quoted = !quoted
		case quoted:
		case c == '{' || c == '[':
			depth++
		case c == '}' || c == ']':
			depth--
		}
		if depth > maxJSONDepth {
			return invalidField(name, "must not be nested deeper than 50 levels")
		}
	}
	return nil
}

// checkSegmentChoice checks that the segments of a rule or rollout are given in one of
// the two ways, and returns their keys without duplicates (contract 2, 4.1).
func checkSegmentChoice(segmentKey string, segmentKeys []string) ([]string, error) {
	if err := ExactlyOne("segmentKey or segmentKeys", segmentKey != "", len(segmentKeys) > 0); err != nil {
		return nil, err
	}
	if segmentKey != "" {
		return []string{segmentKey}, nil
	}
	return lists.Distinct(segmentKeys), nil
}

func checkRollout(rollout float32) error {
	switch {
	case !(rollout >= 0): // NaN fails too
		return invalidField("rollout", "must be greater than or equal to '0'")
	case rollout > 100:
		return invalidField("rollout", "must be less than or equal to '100'")
	}
	return nil
}

// checkEnum rejects a number without a name.
func checkEnum(name string, value interface{ Known() bool }) error {
	if !value.Known() {
		return invalidField(name, "is not a known value")
	}
	return nil
}

// checkColor rejects a color without a meaning.
func checkColor(color guidon.Color) error {
	if color.Known() {
		return nil
	}
	names := lists.Map(guidon.Colors(), func(known guidon.Color) string { return string(known) })
	return invalidField("color", "must be one of "+strings.Join(names, ", "))
}

// FoldCase returns the text with its ASCII letters in lower case, for names whose case does
// not matter. It leaves other letters as they are: some that have the same lower case,
// such as the Kelvin sign, may belong to the name of another account.
func FoldCase(text string) string {
	folded := []byte(text)
	for i, c := range folded {
		if 'A' <= c && c <= 'Z' {
			folded[i] = c + 'a' - 'A'
		}
	}
	return string(folded)
}

// IsClean reports whether the text is free of characters that hide its content: control
// characters, line separators, those that change the direction of writing, and the
// replacement for characters that could not be decoded, by which different texts are
// equal.
func IsClean(text string) bool {
	for _, r := range text {
		if unicode.IsControl(r) || r == unicode.ReplacementChar || unicode.In(r, unicode.Zl, unicode.Zp, unicode.Bidi_Control) {
			return false
		}
	}
	return true
}
