package cli

import (
	"context"
	"encoding/json"

	"google.golang.org/genproto/googleapis/api/httpbody"
	"google.golang.org/protobuf/types/known/emptypb"

	"github.com/guidonhq/guidon/cmd/internal/client"
)

// ServerInfo is what commands need of what a server says about itself (contract 11).
type ServerInfo struct {
	Version        string `json:"version,omitempty"`
	ReadOnly       bool   `json:"readOnly"`
	DryRun         bool   `json:"dryRun"` // it respects the header of dry runs
	Authentication struct {
		Required bool `json:"required"`
	} `json:"authentication"`
}

// Info returns what the server says about itself.
func Info(ctx context.Context, server client.Client) (info ServerInfo, err error) {
	body, err := Call[httpbody.HttpBody](ctx, server, "/flipt.meta.MetadataService/GetInfo", new(emptypb.Empty))
	if err == nil {
		err = json.Unmarshal(body.GetData(), &info)
	}
	return info, err
}
