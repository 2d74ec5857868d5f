package changes

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"

	"github.com/guidonhq/guidon/cmd/internal/command/cli"
	"github.com/guidonhq/guidon/handler/codec"
	"github.com/guidonhq/guidon/handler/wire/guidonv1"
)

// jsonList prints changes as a JSON array, one after the other: a change may have megabytes.
type jsonList struct {
	out   io.Writer
	begun bool
}

func (l *jsonList) add(c *guidonv1.Change) error {
	text, err := codec.Marshal(c)
	if err != nil {
		return err
	}
	var b bytes.Buffer
	b.WriteString("[\n  ")
	if l.begun {
		b.Reset()
		b.WriteString(",\n  ")
	}
	l.begun = true
	if err := json.Indent(&b, text, "  ", "  "); err != nil {
		return err
	}
	_, err = b.WriteTo(l.out)
	return err
}

func (l *jsonList) end() error {
	end := "\n]\n"
	if !l.begun {
		end = "[]\n"
	}
	_, err := io.WriteString(l.out, end)
	return err
}

// yamlList prints changes as a YAML list, one after the other: a change may have megabytes.
type yamlList struct {
	out   io.Writer
	begun bool
}

func (l *yamlList) add(c *guidonv1.Change) error {
	l.begun = true
	text, err := codec.Marshal(c)
	if err != nil {
		return err
	}
	return cli.WriteYAML(l.out, bytes.Join([][]byte{{'['}, text, {']'}}, nil))
}

func (l *yamlList) end() error {
	if l.begun {
		return nil
	}
	_, err := io.WriteString(l.out, "[]\n")
	return err
}

// changeNames prints the revision of each change.
type changeNames struct{ out io.Writer }

func (n changeNames) add(c *guidonv1.Change) error {
	_, err := fmt.Fprintln(n.out, c.GetRevision())
	return err
}

func (changeNames) end() error { return nil }
