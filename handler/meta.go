package handler

import (
	"context"
	"encoding/json"
	"runtime"

	"google.golang.org/genproto/googleapis/api/httpbody"
	"google.golang.org/protobuf/types/known/emptypb"

	_ "github.com/guidonhq/guidon/handler/wire/meta" // registers the service descriptor; the package has no messages
)

// Info describes the build.
type Info struct {
	Version, Commit, BuildDate string
	Release                    bool
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
	UI              ui       `json:"ui"`
}

type required struct {
	Required bool `json:"required"`
}

type storage struct {
	Type string `json:"type"`
}

type ui struct {
	Theme       string `json:"theme"`
	TopbarColor string `json:"topbarColor"`
}

func (i Info) encode(authenticationRequired bool) []byte {
	body, err := json.Marshal(infoBody{
		Version: i.Version, Commit: i.Commit, BuildDate: i.BuildDate, IsRelease: i.Release,
		GoVersion: runtime.Version(), OS: runtime.GOOS, Arch: runtime.GOARCH,
		Authentication: required{authenticationRequired},
		Storage:        storage{Type: "database"},
		UI:             ui{Theme: "system"},
	})
	if err != nil {
		panic(err) // strings and booleans can always be encoded
	}
	return body
}

func (h *Handler) getInfo(context.Context, *call, *emptypb.Empty) (*httpbody.HttpBody, error) {
	return &httpbody.HttpBody{ContentType: contentJSON, Data: h.info}, nil
}

func (h *Handler) getConfiguration(context.Context, *call, *emptypb.Empty) (*httpbody.HttpBody, error) {
	body := []byte(h.config.Configuration)
	if len(body) == 0 {
		body = []byte("{}")
	}
	return &httpbody.HttpBody{ContentType: contentJSON, Data: body}, nil
}
