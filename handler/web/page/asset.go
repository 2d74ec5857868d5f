package page

import (
	"bytes"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"io/fs"
	"maps"
	"net/http"
	"path"
	"slices"
	"sync"

	"github.com/guidonhq/guidon/handler/exchange"
)

// AssetsPath is where assets are, below the public path.
const AssetsPath = "/assets"

//go:embed assets
var assetFiles embed.FS

// assetTypes are the content types of assets, by the extension of the name.
var assetTypes = map[string]string{
	".css": "text/css; charset=utf-8", ".js": "text/javascript; charset=utf-8", ".svg": "image/svg+xml", ".yaml": "application/yaml",
}

// styleSheet is the name of the style sheet of all pages.
const styleSheet = "guidon.css"

// joined are the names of the assets that consist of all files of a directory, in the order
// of their names. A page needs few requests, and each file still has one subject: those of a
// module have one scope.
var joined = map[string]string{"assets/styles": styleSheet, "assets/app": appModule, "assets/draft": "draft.js"}

// assets returns the contents of the files that pages use, by name. Nothing that starts a
// process needs them, so that a function that evaluates starts sooner.
var assets = sync.OnceValue(readAssets)

// Build returns a hash of the content of all assets. Their address has it, so that a
// module can import another one by its name, and a browser may keep them forever.
var Build = sync.OnceValue(digestAssets)

func readAssets() map[string][]byte {
	files := make(map[string][]byte)
	err := fs.WalkDir(assetFiles, "assets", func(file string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		content, err := assetFiles.ReadFile(file)
		if path.Ext(file) == ".css" {
			content = withoutSpace(content)
		}
		if whole, ok := joined[path.Dir(file)]; ok {
			files[whole] = append(files[whole], content...)
			return err
		}
		files[path.Base(file)] = content
		return err
	})
	if err != nil {
		panic(err) // embedded, so this cannot happen
	}
	return files
}

// withoutSpace returns a stylesheet without the parts that only its authors need: comments, and space at
// the ends of lines.
func withoutSpace(css []byte) []byte {
	small := make([]byte, 0, len(css))
	for len(css) > 0 {
		code, rest, _ := bytes.Cut(css, []byte("/*"))
		for line := range bytes.Lines(code) {
			if line = bytes.TrimSpace(line); len(line) > 0 {
				small = append(append(small, line...), '\n')
			}
		}
		_, css, _ = bytes.Cut(rest, []byte("*/"))
	}
	return small
}

func digestAssets() string {
	digest := sha256.New()
	for _, name := range slices.Sorted(maps.Keys(assets())) {
		_, _ = digest.Write([]byte(name + "\x00"))
		_, _ = digest.Write(assets()[name])
	}
	return hex.EncodeToString(digest.Sum(nil)[:8])
}

// Asset returns the address of an asset for a browser. It panics if there is no such asset.
func (s *Site) Asset(name string) string {
	if assets()[name] == nil {
		panic("page: there is no asset " + name)
	}
	return s.Path(AssetsPath + "/" + Build() + "/" + name)
}

// ServeAsset responds with an asset.
func ServeAsset(v *Visit) error {
	content := assets()[v.Variable("name")]
	if content == nil || v.Variable("build") != Build() {
		return exchange.ErrNoRoute
	}
	v.Header().Set("Cache-Control", "public, max-age=31536000, immutable")
	v.Exchange.Reply(http.StatusOK, assetTypes[path.Ext(v.Variable("name"))], content)
	return nil
}
