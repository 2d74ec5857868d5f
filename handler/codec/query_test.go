package codec_test

import (
	"net/url"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/testing/protocmp"
	"google.golang.org/protobuf/types/known/emptypb"
	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/handler/codec"
	"github.com/guidonhq/guidon/handler/wire/auth"
	"github.com/guidonhq/guidon/handler/wire/flipt"
	"github.com/guidonhq/guidon/handler/wire/guidonv1"
)

// TestUnmarshalQuery tests the rows of contract 1.2 about query strings.
func TestUnmarshalQuery(t *testing.T) {
	tests := []struct {
		name  string
		query string
		want  proto.Message
	}{
		{"parameters that the Go SDK always sends", "limit=0&offset=0&pageToken=&reference=", &flipt.ListFlagRequest{}},
		{"parameters that the Go SDK sends on deletes", "force=false", &flipt.DeleteNamespaceRequest{}},
		{"camelCase", "limit=-2&pageToken=t", &flipt.ListFlagRequest{Limit: -2, PageToken: "t"}},
		{"snake_case", "page_token=t", &flipt.ListFlagRequest{PageToken: "t"}},
		{"both: camelCase wins", "page_token=s&pageToken=c", &flipt.ListFlagRequest{PageToken: "c"}},
		{"unknown parameters", "x=1&x=2&environmentKey=e&pageToken.x=1&=&limit.a", &flipt.ListFlagRequest{}},
		{"percent-encoding", "variantId=a%20b%2Bc+d", &flipt.DeleteDistributionRequest{VariantId: "a b+c d"}},
		{"bool T", "force=T", &flipt.DeleteNamespaceRequest{Force: true}},
		{"bool 1", "force=1", &flipt.DeleteNamespaceRequest{Force: true}},
		{"enum by name", "method=METHOD_TOKEN", &auth.ListAuthenticationsRequest{Method: auth.Method_METHOD_TOKEN}},
		{"enum by number", "method=1", &auth.ListAuthenticationsRequest{Method: auth.Method_METHOD_TOKEN}},
		{"timestamp", "expiresAt=2026-01-02T03:04:05.5Z", &auth.ExpireAuthenticationSelfRequest{ExpiresAt: created(500_000_000)}},
		{"timestamp with offset", "since=2026-01-02T04:04:05%2B01:00", &guidonv1.ListChangesRequest{Since: created(0)}},
		{"a timestamp has no fields", "expiresAt.seconds=1", &auth.ExpireAuthenticationSelfRequest{}},
		{"repeated strings", "ruleIds=a&ruleIds=b", &flipt.OrderRulesRequest{RuleIds: []string{"a", "b"}}},
		{"Empty takes anything", "a=1", &emptypb.Empty{}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := tt.want.ProtoReflect().New().Interface()
			if err := codec.UnmarshalQuery(query(t, tt.query), got); err != nil {
				t.Fatalf("UnmarshalQuery(%s): %v", tt.query, err)
			}
			if diff := cmp.Diff(tt.want, got, protocmp.Transform()); diff != "" {
				t.Errorf("UnmarshalQuery(%s) (-want +got):\n%s", tt.query, diff)
			}
		})
	}
}

func TestUnmarshalQueryErrors(t *testing.T) {
	tests := []struct {
		name  string
		query string
		into  proto.Message
		want  string
	}{
		{"two values", "reference=a&reference=b", &flipt.ListFlagRequest{}, `too many values for field "reference": a, b`},
		{"two values, named as declared", "pageToken=a&pageToken=b", &flipt.ListFlagRequest{}, `too many values for field "page_token": a, b`},
		{"two values, long", "reference=a&reference=" + strings.Repeat("x", 5000), &flipt.ListFlagRequest{}, `too many values for field "reference": a, ` + strings.Repeat("x", 97) + "…"},
		{"empty int", "limit=", &flipt.ListFlagRequest{}, `parsing field "limit": strconv.ParseInt: parsing "": invalid syntax`},
		{"empty bool", "force=", &flipt.DeleteNamespaceRequest{}, `parsing field "force": strconv.ParseBool: parsing "": invalid syntax`},
		{"text for an int", "limit=ten", &flipt.ListFlagRequest{}, `parsing field "limit": strconv.ParseInt: parsing "ten": invalid syntax`},
		{"int32 is decimal and whole", "limit=1e2", &flipt.ListFlagRequest{}, `parsing field "limit": strconv.ParseInt: parsing "1e2": invalid syntax`},
		{"int beyond 32 bits", "limit=2147483648", &flipt.ListFlagRequest{}, `parsing field "limit": strconv.ParseInt: parsing "2147483648": value out of range`},
		{"unusual bool", "force=yes", &flipt.DeleteNamespaceRequest{}, `parsing field "force": strconv.ParseBool: parsing "yes": invalid syntax`},
		{"unknown enum name", "method=TOKEN", &auth.ListAuthenticationsRequest{}, `parsing field "method": "TOKEN" is not a valid value`},
		{"unknown enum number", "method=99", &auth.ListAuthenticationsRequest{}, `parsing field "method": "99" is not a valid value`},
		{"bad timestamp", "expiresAt=tomorrow", &auth.ExpireAuthenticationSelfRequest{}, `parsing field "expires_at": "tomorrow" is not an RFC 3339 time`},
		{"invalid UTF-8", "reference=%ff", &flipt.ListFlagRequest{}, `parsing field "reference": not valid UTF-8`},
		{"object", "metadata=1", &flipt.CreateFlagRequest{}, `parsing field "metadata": a message is not supported here`},
		{"map", "metadata=1", &auth.CreateTokenRequest{}, `parsing field "metadata": a map is not supported here`},
		{"two wrong: the first in alphabetical order", "offset=x&limit=x", &flipt.ListFlagRequest{}, `parsing field "limit": strconv.ParseInt: parsing "x": invalid syntax`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			checkInvalid(t, codec.UnmarshalQuery(query(t, tt.query), tt.into), tt.want)
		})
	}
}

// TestSetPathVariable checks that the path overrides the body, even if its segment is
// empty (contract 1.2 and 1.5).
func TestSetPathVariable(t *testing.T) {
	tests := []struct {
		name         string
		field, value string
		from, want   proto.Message
	}{
		{"string", "namespace_key", "n", &flipt.GetFlagRequest{}, &flipt.GetFlagRequest{NamespaceKey: "n"}},
		{"string over another", "key", "path", &flipt.UpdateFlagRequest{Key: "body", Name: "x"}, &flipt.UpdateFlagRequest{Key: "path", Name: "x"}},
		{"empty string over another", "namespace_key", "", &flipt.GetFlagRequest{NamespaceKey: "body"}, &flipt.GetFlagRequest{}},
		{"int", "limit", "7", &flipt.ListFlagRequest{}, &flipt.ListFlagRequest{Limit: 7}},
		{"int64", "revision", "9007199254740993", &guidonv1.Change{}, &guidonv1.Change{Revision: 9007199254740993}},
		{"enum", "method", "METHOD_TOKEN", &auth.ListAuthenticationsRequest{}, &auth.ListAuthenticationsRequest{Method: 1}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if err := codec.SetPathVariable(tt.from, tt.field, tt.value); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, tt.from, protocmp.Transform()); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
		})
	}
	t.Run("bad value", func(t *testing.T) {
		err := codec.SetPathVariable(&flipt.ListFlagRequest{}, "limit", "x")
		checkInvalid(t, err, `parsing field "limit": strconv.ParseInt: parsing "x": invalid syntax`)
	})
	t.Run("invalid UTF-8", func(t *testing.T) {
		checkInvalid(t, codec.SetPathVariable(&flipt.GetFlagRequest{}, "key", "\xff"), `parsing field "key": not valid UTF-8`)
	})
	for _, field := range []string{"nope", "namespaceKey", "metadata"} { // a mistake in the operations table, not in the request
		t.Run(field, func(t *testing.T) {
			err := codec.SetPathVariable(&flipt.CreateFlagRequest{Metadata: nil}, field, "x")
			if got := guidon.CodeOf(err); err == nil || got != guidon.Internal {
				t.Errorf("got %v, want an internal error", err)
			}
		})
	}
}

// TestQueryWithoutValues checks that a parameter without values, which no URL can have,
// sets nothing.
func TestQueryWithoutValues(t *testing.T) {
	got := &auth.ExpireAuthenticationSelfRequest{}
	if err := codec.UnmarshalQuery(url.Values{"expiresAt": nil}, got); err != nil {
		t.Fatal(err)
	}
	if got.ExpiresAt != (*timestamppb.Timestamp)(nil) {
		t.Errorf("got %v, want it unset", got.ExpiresAt)
	}
}

func query(t *testing.T, text string) url.Values {
	t.Helper()
	values, err := url.ParseQuery(text)
	if err != nil {
		t.Fatal(err)
	}
	return values
}
