package codec_test

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"google.golang.org/protobuf/proto"

	"github.com/guidonhq/guidon/handler/codec"
	"github.com/guidonhq/guidon/handler/wire/guidonv1"
)

// stream decodes an import and puts the elements back into its lists.
func stream(text string, values int) (*guidonv1.ImportRequest, error) {
	m := new(guidonv1.ImportRequest)
	var flags []*guidonv1.DocumentFlag
	var segments []*guidonv1.DocumentSegment
	_, err := codec.UnmarshalStream(iotest.OneByteReader(strings.NewReader(text)), m, values, map[string]codec.List{
		"document.flags": {
			Reset: func() { flags = nil },
			Add: func(element []byte) error {
				flags = append(flags, new(guidonv1.DocumentFlag))
				return codec.Unmarshal(element, flags[len(flags)-1], values)
			},
		},
		"document.segments": {
			Reset: func() { segments = nil },
			Add: func(element []byte) error {
				segments = append(segments, new(guidonv1.DocumentSegment))
				return codec.Unmarshal(element, segments[len(segments)-1], values)
			},
		},
	})
	if m.Document != nil {
		m.Document.Flags, m.Document.Segments = flags, segments
	}
	return m, err
}

var streamed = []string{
	``, ` `, `null`, `null"`, `null{`, `7[`, `{"mode":1"x"}`, `{}`, `{"mode":1}`, `[]`, `7`,
	`{"namespaceKey":"a","document":{"namespace":{"key":"a"},"flags":[{"key":"f","variants":[{"key":"v","attachment":"{\"a\":[1,\"}\"]}"}]},null, {"key":"g\\"} ],"segments":[]},"dryRun":true} trailing`,
	`{"document":{"segments":[{"key":"s","constraints":[{},{}]}],"more":[1,[2,{"a":"]"}]],"flags":[]},"namespace_key":"b","dry_run":true}`,
	`{"document":{"flags":[{"key":"old"}]},"document":{"flags":[{"key":"new"}]}}`,
	`{"document":{"flags":[{"key":"old"}],"flags":null}}`,
	`{"document":{"flags":[{"key":"old"}]},"document":null}`,
	`{"document":{"flags":{"key":"f"}}}`, `{"document":{"flags":7}}`, `{"document":[]}`,
	`{"document":{"flags":[{"key":7}]}}`, `{"document":{"flags":[{"key":"f"},]}}`, `{"document":{"flags":[,]}}`,
	`{"document":{"flags":[{"key":"f"}`, `{"document":{"flags":[`, `{"document":`, `{"document"`, `{`, `{"a":"b`, `{"a":tru}`,
	"{\"\x17\"}", `{"\q":1}`, `{"a":1,}`, `{"a" 1}`, `{"document":{"flags":[{"key":"f"} {"key":"g"}]}}`, `{"mode":"NO_MODE"}`,
	`{"\u0064ocument":{"flags":[{"key":"f"}]}}`, "{\"document\":{\"flags\":[{\"key\":\"\xff\"}]}}",
	`{"document":{"flags":[{"key":"f"}]},"mode":"UPDATE_IMPORT_MODE"}`,
}

// TestUnmarshalStream checks that the result is the same as that of Unmarshal.
func TestUnmarshalStream(t *testing.T) {
	for _, text := range streamed {
		checkStream(t, text)
	}
	if _, err := stream(`{"document":{"flags":[{"key":"f"},{"key":"g"}]}}`, 5); err == nil {
		t.Error("too many values are accepted")
	}
}

func checkStream(t *testing.T, text string) {
	t.Helper()
	const values = 1000
	want := new(guidonv1.ImportRequest)
	wantErr := codec.Unmarshal([]byte(text), want, values)
	got, err := stream(text, values)
	if (err == nil) != (wantErr == nil) {
		t.Fatalf("%q: got error %v, want %v", text, err, wantErr)
	}
	if err == nil && !proto.Equal(got, want) {
		t.Errorf("%q:\ngot  %v\nwant %v", text, got, want)
	}
}

func FuzzUnmarshalStream(f *testing.F) {
	for _, text := range streamed {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if strings.Count(text, ",")+strings.Count(text, "{")+strings.Count(text, "[") > 400 {
			t.Skip("the two functions count values differently")
		}
		checkStream(t, text)
	})
}

// TestUnmarshalStreamLong reads a body longer than any buffer.
func TestUnmarshalStreamLong(t *testing.T) {
	var text strings.Builder
	text.WriteString(`{"document":{"flags":[`)
	for i := range 3000 {
		if i > 0 {
			text.WriteByte(',')
		}
		fmt.Fprintf(&text, `{"key":"flag-%d","description":%q}`, i, strings.Repeat(`x"{`, i%97))
	}
	text.WriteString(`]}}`)
	got, err := stream(text.String(), 1_000_000)
	if err != nil || len(got.GetDocument().GetFlags()) != 3000 || got.GetDocument().GetFlags()[2999].GetKey() != "flag-2999" {
		t.Errorf("got %d flags and error %v", len(got.GetDocument().GetFlags()), err)
	}
}

// TestUnmarshalStreamToTheEnd checks that the whole input is read: net/http closes a
// connection if the end of a body is still unread after the response, and a client may
// then lose the response.
func TestUnmarshalStreamToTheEnd(t *testing.T) {
	broken := errors.New("broken")
	for name, test := range map[string]struct {
		rest io.Reader // follows a complete request
		want error
	}{
		"an end of its own": {rest: strings.NewReader("")},
		"more":              {rest: iotest.OneByteReader(strings.NewReader(" \n and more"))},
		"an error":          {rest: iotest.ErrReader(broken), want: broken},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := codec.UnmarshalStream(io.MultiReader(strings.NewReader(`{"namespaceKey":"a"}`), test.rest), new(guidonv1.ImportRequest), 10, nil)
			if !errors.Is(err, test.want) {
				t.Errorf("got error %v, want %v", err, test.want)
			}
			if n, err := test.rest.Read(make([]byte, 1)); n > 0 || err == nil {
				t.Errorf("left unread: %d bytes, error %v", n, err)
			}
		})
	}
}
