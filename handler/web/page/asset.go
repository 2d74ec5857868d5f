package page

import (
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"io/fs"
	"net/http"
	"path"
	"strings"

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

// assets are the contents of the files that pages use, by name.
var assets = readAssets()

// Build stands for the content of all assets. Their address has it, so that a module can
// import another one by its name, and a browser may keep them forever.
var Build = digestAssets()

func readAssets() map[string][]byte {
	files := make(map[string][]byte)
	entries, err := fs.ReadDir(assetFiles, "assets")
	if err != nil {
		panic(err) // embedded, so this cannot happen
	}
	for _, entry := range entries {
		content, err := assetFiles.ReadFile("assets/" + entry.Name())
		if err != nil {
			panic(err)
		}
		files[entry.Name()] = content
	}
	return files
}

func digestAssets() string {
	digest := sha256.New()
	entries, _ := fs.ReadDir(assetFiles, "assets") // sorted; readAssets has read them
	for _, entry := range entries {
		_, _ = digest.Write([]byte(entry.Name() + "\x00"))
		_, _ = digest.Write(assets[entry.Name()])
	}
	return hex.EncodeToString(digest.Sum(nil)[:8])
}

// Asset returns the address of an asset for a browser. It panics if there is no such asset.
func (s *Site) Asset(name string) string {
	if assets[name] == nil {
		panic("page: there is no asset " + name)
	}
	return s.Path(AssetsPath + "/" + Build + "/" + name)
}

// HasAsset reports whether there is an asset at the path.
func HasAsset(at string) bool { return assetAt(at) != nil }

// ServeAsset responds with the asset at the path, which must exist.
func ServeAsset(x *exchange.Exchange, at string) {
	x.Header().Set("Cache-Control", "public, max-age=31536000, immutable")
	x.Reply(http.StatusOK, assetTypes[path.Ext(at)], assetAt(at))
}

// assetAt returns the content of the asset at the path, or nil if there is none.
func assetAt(at string) []byte {
	name, ok := strings.CutPrefix(at, AssetsPath+"/"+Build+"/")
	if !ok {
		return nil
	}
	return assets[name]
}
