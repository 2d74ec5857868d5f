package web

import (
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"io/fs"
	"net/http"
	"path"

	"github.com/guidonhq/guidon/handler/exchange"
)

//go:embed assets
var assetFiles embed.FS

// asset is a file that pages use.
type asset struct {
	content []byte
	address string // below the public path; it changes with the content
}

// assetTypes are the content types of assets, by the extension of the name.
var assetTypes = map[string]string{".css": "text/css; charset=utf-8", ".svg": "image/svg+xml"}

var assets = readAssets()

func readAssets() map[string]asset {
	files := make(map[string]asset)
	entries, err := fs.ReadDir(assetFiles, "assets")
	if err != nil {
		panic(err) // embedded, so this cannot happen
	}
	for _, entry := range entries {
		content, err := assetFiles.ReadFile("assets/" + entry.Name())
		if err != nil {
			panic(err)
		}
		digest := sha256.Sum256(content)
		files[entry.Name()] = asset{content, assetsPath + "/" + hex.EncodeToString(digest[:8]) + "/" + entry.Name()}
	}
	return files
}

// asset returns the address of an asset for a browser. It panics if there is no such asset.
func (s *Site) asset(name string) string {
	a, ok := assets[name]
	if !ok {
		panic("web: there is no asset " + name)
	}
	return s.path(a.address)
}

// assetServer returns what serves the asset with the address, or nil if there is none.
func assetServer(address string) func(x *exchange.Exchange) {
	name := path.Base(address)
	a, ok := assets[name]
	if !ok || a.address != address {
		return nil
	}
	return func(x *exchange.Exchange) {
		x.Header().Set("Cache-Control", "public, max-age=31536000, immutable")
		x.Reply(http.StatusOK, assetTypes[path.Ext(name)], a.content)
	}
}
