package codec_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"testing"
	"unicode/utf8"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/emptypb"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/handler/codec"
)

// FuzzUnmarshal checks that a body is rejected with InvalidArgument or gives a message
// that survives being encoded and decoded again. It also checks that the same bodies are
// well-formed as for encoding/json.
func FuzzUnmarshal(f *testing.F) {
	kinds := wireMessages(f)
	for _, body := range []string{
		``, `null`, `{}`, `[]`, `{"flagKey":"f","flag_key":null,"context":{"a":"1","b":null}}`, `{"rank":"1e2","rollout":33.33}`,
		`{"requests":[{"entityId":"\ud83d\ude00"},null]}`, `{"segment":{"value":true},"threshold":{"percentage":1}}`,
		`{"metadata":{"a":[1,-0.5e-3,true,null,{"b":""}]},"type":1,"enabled":false}`, `{"expiresAt":"2026-01-02T03:04:05.6+07:00"}`,
		"{\"key\":\"\xff\"}", `{"revision":9007199254740993}`, `{"type":"X"}`, `{"a":` + nested(70) + `}`,
	} {
		for kind := range 3 {
			f.Add([]byte(body), uint8(kind*20)) // #nosec G115 -- below 60
		}
	}
	f.Fuzz(func(t *testing.T, body []byte, kind uint8) {
		checkWellFormed(t, body)
		first := kinds[int(kind)%len(kinds)].ProtoReflect().New().Interface()
		if err := codec.Unmarshal(body, first, 100_000); err != nil {
			if !errors.Is(err, guidon.InvalidArgument) || err.Error() == "" {
				t.Fatalf("rejected with %v", err)
			}
			return
		}
		written, err := codec.Marshal(first)
		if err != nil {
			t.Fatal(err)
		}
		if !json.Valid(written) {
			t.Fatalf("not JSON: %s", written)
		}
		second := first.ProtoReflect().New().Interface()
		if err := codec.Unmarshal(written, second, 100_000); err != nil {
			t.Fatalf("%v for %s", err, written)
		}
		if !proto.Equal(first, second) {
			t.Fatalf("read %v, then %v", first, second)
		}
		if again, err := codec.Marshal(second); err != nil || !bytes.Equal(written, again) {
			t.Fatalf("wrote %s, then %s (%v)", written, again, err)
		}
	})
}

// checkWellFormed checks that a body is accepted as JSON if encoding/json accepts it.
func checkWellFormed(t *testing.T, body []byte) {
	t.Helper()
	var value json.RawMessage
	malformed := json.NewDecoder(bytes.NewReader(body)).Decode(&value)
	err := codec.Unmarshal(body, &emptypb.Empty{}, 100_000)
	switch {
	case len(bytes.Trim(body, " \t\r\n")) == 0:
		if err != nil {
			t.Fatalf("empty body: %v", err)
		}
	case err != nil && err.Error() == "json body is nested too deeply":
	case malformed != nil:
		if err == nil || err.Error() != malformed.Error() {
			t.Fatalf("got error %v, want %v", err, malformed)
		}
	case !utf8.Valid(value):
		if err == nil || err.Error() != "json body is not valid UTF-8" {
			t.Fatalf("got error %v for invalid UTF-8", err)
		}
	case err != nil:
		t.Fatalf("got error %v for well-formed %s", err, value)
	}
}
