package document

import "bytes"

// FormatOfText returns the format of the text of a file: JSON if it begins with an object
// whose names are in quotes, after a comment line that may precede it, or else YAML.
func FormatOfText(text []byte) Format {
	rest, isObject := bytes.CutPrefix(bytes.TrimSpace(withoutHeader(text)), []byte("{"))
	rest = bytes.TrimLeft(rest, " \t\r\n")
	if isObject && len(rest) > 0 && (rest[0] == '"' || rest[0] == '}') {
		return JSON
	}
	return YAML
}
