package fliptdb

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/guidonhq/guidon/service"
)

// The prefixes of metadata keys in Flipt and in this service.
const (
	fliptPrefix  = "io.flipt.auth."
	guidonPrefix = "io.service.auth."
)

// readAuthentications reads the credentials with the hashes of their tokens. Flipt and this
// service use the same hash (operations 1.4), so tokens stay valid.
func readAuthentications(ctx context.Context, r *reader, a *assembly) error {
	var read service.Authentication
	var method int64
	var metadata string
	hashes := make(map[string]string)
	fields := []any{
		zero(&read.ID), zero(&read.TokenHash), zero(&method), zero(&metadata),
		expiry{&read.ExpiresAt}, newStamp(&read.CreatedAt), newStamp(&read.UpdatedAt),
	}
	const columns = "id hashed_client_token method metadata? expires_at? created_at updated_at"
	return r.each(ctx, a, "authentications", columns, fields, func() string { return "authentications " + read.ID }, func(x row) {
		pairs, ok := convertMetadata(metadata)
		problem := x.checkKey(read.ID)
		switch {
		case problem != "":
		case method <= int64(service.MethodNone) || method > int64(service.MethodCloud):
			problem = fmt.Sprintf("method %d is unknown", method)
		case read.TokenHash == "" || len(read.TokenHash) > maxKeyLength || hashes[read.TokenHash] != "":
			problem = "its token hash is empty, too long or used by another authentication"
		case !ok:
			// The metadata may limit what the token can do, so it is not dropped.
			problem = "its metadata is not a JSON object of strings"
		}
		if problem != "" {
			a.lose(x.name, problem, &a.content.Loss.Authentications)
			return
		}
		added := read
		added.Method, added.Metadata = service.Method(method), pairs // #nosec G115 -- checked above
		hashes[read.TokenHash] = read.ID
		a.content.Authentications = append(a.content.Authentications, &added)
	})
}

// convertMetadata returns the metadata with the key prefix of this service.
func convertMetadata(text string) (map[string]string, bool) {
	var pairs map[string]string
	if text == "" {
		return nil, true
	}
	if err := json.Unmarshal([]byte(text), &pairs); err != nil {
		return nil, false
	}
	result := make(map[string]string, len(pairs))
	for key, value := range pairs {
		if _, found := strings.CutPrefix(key, fliptPrefix); !found {
			result[key] = value
		}
	}
	// These come last so that they win: they determine what the token may do.
	for key, value := range pairs {
		if name, found := strings.CutPrefix(key, fliptPrefix); found {
			result[guidonPrefix+name] = value
		}
	}
	if len(result) == 0 {
		return nil, true
	}
	return result, true
}
