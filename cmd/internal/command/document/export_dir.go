package document

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/guidonhq/guidon/cmd/internal/command/cli"
	"github.com/guidonhq/guidon/document"
	"github.com/guidonhq/guidon/service"
)

// writeDir writes each document to a file of its own in the directory, which it creates.
// Flags and segments are sorted by key. Variants are not: their order is content, which
// "apply" would change.
func (e *exportCommand) writeDir(documents []*service.Document) error {
	format, extension := document.YAML, ".yaml"
	if e.format.Word == "json" {
		format, extension = document.JSON, ".json"
	}
	if err := checkFileNames(documents); err != nil {
		return err
	}
	if err := os.MkdirAll(e.dir, 0o755); err != nil { // #nosec G301 -- flags are not secret
		return cli.WriteError(e.dir, err)
	}
	for _, d := range documents {
		slices.SortFunc(d.Flags, func(a, b *service.DocumentFlag) int { return cmp.Compare(a.Key, b.Key) })
		slices.SortFunc(d.Segments, func(a, b *service.DocumentSegment) int { return cmp.Compare(a.Key, b.Key) })
		if err := e.write(filepath.Join(e.dir, d.Namespace.Key+extension), format, []*service.Document{d}); err != nil {
			return err
		}
	}
	return nil
}

// checkFileNames returns an error if two keys differ only in case: on some systems these
// would be the same file.
func checkFileNames(documents []*service.Document) error {
	seen := make(map[string]string)
	for _, d := range documents {
		name := strings.ToLower(d.Namespace.Key)
		if other, twice := seen[name]; twice {
			return fmt.Errorf("namespaces %q and %q cannot be exported to one directory: their keys differ only in case", other, d.Namespace.Key)
		}
		seen[name] = d.Namespace.Key
	}
	return nil
}
