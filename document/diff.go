package document

import (
	"bytes"

	"github.com/rogpeppe/go-internal/diff"

	"github.com/guidonhq/guidon/service"
)

// Diff returns the difference between the YAML forms of two documents in unified format, or
// "" if they are equal. A nil document is one that does not exist.
func Diff(before, after *service.Document) (string, error) {
	was, err := yamlForm(before)
	if err != nil {
		return "", err
	}
	is, err := yamlForm(after)
	if err != nil {
		return "", err
	}
	return string(diff.Diff("before", was, "after", is)), nil
}

func yamlForm(d *service.Document) ([]byte, error) {
	if d == nil {
		return nil, nil
	}
	var out bytes.Buffer
	err := Encode(&out, YAML, []*service.Document{d})
	return out.Bytes(), err
}
