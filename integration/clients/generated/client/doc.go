// Package client is the client that oapi-codegen generates from handler/openapi.yaml, which
// is not kept: TestGeneratedGoClient in integration/clients generates and tests it.
package client

// The generated code imports these.
import (
	_ "github.com/oapi-codegen/runtime"
	_ "go.yaml.in/yaml/v3"
)
