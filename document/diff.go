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

// DiffObjects is [Diff] for the flags and segments of the documents, without the settings of
// their namespaces. The names are those of the files in the difference.
func DiffObjects(beforeName string, before *service.Document, afterName string, after *service.Document) (string, error) {
	was, err := yamlObjects(before)
	if err != nil {
		return "", err
	}
	is, err := yamlObjects(after)
	if err != nil {
		return "", err
	}
	return string(diff.Diff(beforeName, was, afterName, is)), nil
}

// yamlObjects returns the part of the YAML form that has flags and segments.
func yamlObjects(d *service.Document) ([]byte, error) {
	if d == nil {
		return nil, nil
	}
	head, err := yamlForm(&service.Document{Namespace: d.Namespace})
	if err != nil {
		return nil, err
	}
	all, err := yamlForm(d)
	return bytes.TrimPrefix(all, head), err
}

func yamlForm(d *service.Document) ([]byte, error) {
	if d == nil {
		return nil, nil
	}
	var out bytes.Buffer
	err := Encode(&out, YAML, []*service.Document{d})
	return out.Bytes(), err
}
