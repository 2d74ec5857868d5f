package service_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/change"
	"github.com/guidonhq/guidon/service"
)

func TestWriteValidate(t *testing.T) {
	const (
		tooLong = "invalid field message: must not be longer than 1000 characters"
		control = "invalid field message: must not contain line breaks or other control characters"
	)
	for message, want := range map[string]string{
		"":                           "",
		"why, “exactly”? 🎈":          "",
		strings.Repeat("x", 1000):    "",
		strings.Repeat("🎈", 1000):    "",
		strings.Repeat("x", 1001):    tooLong,
		strings.Repeat("🎈", 1001):    tooLong,
		"two\nlines":                 control,
		"a\ttab":                     control,
		"nul\x00":                    control,
		"line\u2028separator":        control,
		"\u202eright to left":        control,
		"replacement\ufffd":          control,
		"\xff":                       "invalid field message: must be valid UTF-8",
		strings.Repeat("\xff", 1001): tooLong,
	} {
		err := service.Write{Message: message}.Validate()
		if want == "" && err != nil || want != "" && (err == nil || err.Error() != want || !errors.Is(err, guidon.InvalidArgument)) {
			t.Errorf("%.30q: got %v, want %q", message, err, want)
		}
	}
}

// An invalid message fails every kind of write, and nothing is changed.
func TestWritesValidate(t *testing.T) {
	s := newService(t)
	before := revision(t, s, "default")
	w := service.Write{Message: "a\nb"}
	_, _, flagErr := s.CreateFlag(t.Context(), w, "default", guidon.Flag{Key: "a", Name: "A"})
	_, _, importErr := s.Import(t.Context(), w, "default", &service.Document{}, service.ImportCreate, true)
	_, _, tokenErr := s.CreateToken(t.Context(), w, service.TokenInput{Name: "ci"})
	for what, err := range map[string]error{"flag": flagErr, "import": importErr, "token": tokenErr} {
		if !errors.Is(err, guidon.InvalidArgument) || !strings.Contains(err.Error(), "field message") {
			t.Errorf("%s: got %v, want InvalidArgument about the message", what, err)
		}
	}
	if after := revision(t, s, "default"); after != before {
		t.Errorf("got revision %d, want %d", after, before)
	}
}

// An import has the reason import, unless the caller has given another one.
func TestImportReason(t *testing.T) {
	s := newService(t)
	for i, test := range []struct{ given, want change.Reason }{
		{change.Reason{}, change.ImportReason()},
		{change.PromotionReason("staging", 7), change.PromotionReason("staging", 7)},
	} {
		doc := &service.Document{Segments: []*guidon.Segment{{Key: string(rune('a' + i)), Name: "S"}}}
		if _, _, err := s.Import(t.Context(), service.Write{Reason: test.given}, "default", doc, service.ImportCreate, false); err != nil {
			t.Fatal(err)
		}
		got, _, _, err := s.ListChanges(t.Context(), service.Demand{}, change.Search{Query: change.Query{Namespace: "default", Limit: 1}}, "")
		if err != nil || len(got) != 1 || got[0].Reason != test.want {
			t.Errorf("given %+v: got %+v, %v; want %+v", test.given, got, err, test.want)
		}
	}
}
