package diagnostics

import (
	"cmp"
	"context"
	"encoding/json"
	"net/http"
	"runtime"
	"sync"

	"google.golang.org/genproto/googleapis/api/httpbody"
	"google.golang.org/protobuf/types/known/emptypb"

	"github.com/guidonhq/guidon/handler/call"
	"github.com/guidonhq/guidon/handler/exchange"
	_ "github.com/guidonhq/guidon/handler/wire/flipt"
	"github.com/guidonhq/guidon/service"
)

// Info describes the build.
type Info struct {
	Version, Commit, BuildDate string
	Release                    bool
}

// Mode is the part of the configuration of an instance that clients must know.
type Mode struct {
	AuthenticationRequired bool
	ReadOnly               bool // namespaces cannot be changed
	UI                     UI
}

// UI is the part of the configuration of the web interface that clients get.
type UI struct {
	Theme       string `json:"theme"`       // of people who have not chosen one; "" means system
	TopbarColor string `json:"topbarColor"` // "#rgb", "#rrggbb" or ""
}

// infoBody is the body of /meta/info (contract 11). It omits the members for features
// that this release does not have.
type infoBody struct {
	Version         string   `json:"version,omitempty"`
	Commit          string   `json:"commit,omitempty"`
	BuildDate       string   `json:"buildDate,omitempty"`
	GoVersion       string   `json:"goVersion"`
	OS              string   `json:"os"`
	Arch            string   `json:"arch"`
	UpdateAvailable bool     `json:"updateAvailable"`
	IsRelease       bool     `json:"isRelease"`
	Authentication  required `json:"authentication"`
	Storage         storage  `json:"storage"`
	Analytics       struct{} `json:"analytics"`
	UI              UI       `json:"ui"`
	ReadOnly        bool     `json:"readOnly,omitempty"`
	DryRun          bool     `json:"dryRun"` // the header Guidon-Dry-Run is respected
}

type required struct {
	Required bool `json:"required"`
}

type storage struct {
	Type string `json:"type"`
}

func (i Info) encode(mode Mode) []byte {
	body, err := json.Marshal(infoBody{
		Version: i.Version, Commit: i.Commit, BuildDate: i.BuildDate, IsRelease: i.Release,
		GoVersion: runtime.Version(), OS: runtime.GOOS, Arch: runtime.GOARCH,
		Authentication: required{mode.AuthenticationRequired},
		Storage:        storage{Type: "database"},
		UI:             UI{Theme: cmp.Or(mode.UI.Theme, "system"), TopbarColor: mode.UI.TopbarColor},
		ReadOnly:       mode.ReadOnly,
		DryRun:         true,
	})
	if err != nil {
		panic(err) // strings and booleans can always be encoded
	}
	return body
}

// Instance serves information about the program and its configuration.
type Instance struct {
	info          []byte
	configuration func() json.RawMessage
}

// NewInstance returns an Instance. configuration returns the effective one, without secrets; it
// is called once, by the first request for it. If it is nil, the configuration is empty.
func NewInstance(info Info, configuration func() json.RawMessage, mode Mode) Instance {
	if configuration == nil {
		configuration = func() json.RawMessage { return json.RawMessage("{}") }
	}
	return Instance{info: info.encode(mode), configuration: sync.OnceValue(configuration)}
}

// Info returns the body of /meta/info.
func (i Instance) Info(context.Context, *service.Service, *call.Call, *emptypb.Empty) (*httpbody.HttpBody, error) {
	return &httpbody.HttpBody{ContentType: exchange.ContentJSON, Data: i.info}, nil
}

// Configuration returns the body of /meta/config.
func (i Instance) Configuration(context.Context, *service.Service, *call.Call, *emptypb.Empty) (*httpbody.HttpBody, error) {
	return &httpbody.HttpBody{ContentType: exchange.ContentJSON, Data: i.configuration()}, nil
}

// Description returns the route of a description of the API, which is not secret. required states
// that credentials are required.
func Description(pattern, contentType string, body []byte, required bool) exchange.Plain {
	return exchange.Plain{Method: http.MethodGet, Pattern: pattern, AnyHost: required, Serve: func(x *exchange.Exchange) {
		x.Reply(http.StatusOK, contentType, body)
	}}
}
