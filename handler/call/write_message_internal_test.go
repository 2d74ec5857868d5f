package call

import (
	"testing"
	"unicode/utf8"
)

// FuzzMessage: a text is the same after it was sent in a header, whose value is printable
// ASCII; and no header makes the decoder return something that is no text.
func FuzzMessage(f *testing.F) {
	for _, seed := range []string{"", "plain", " two  spaces ", "50 % off", "Grüße 🎈", "%41", "a\nb\x00", "%zz", "%ff", "\xff"} {
		f.Add(seed)
	}
	writing := &Operation{traits: Writes}
	f.Fuzz(func(t *testing.T, text string) {
		header := EncodeMessage(text)
		for i := range len(header) {
			if header[i] < ' ' || header[i] > '~' {
				t.Fatalf("%q: the header is %q", text, header)
			}
		}
		got, err := writing.message(header)
		if utf8.ValidString(text) != (err == nil) || err == nil && got != text {
			t.Errorf("%q: got %q, %v by way of %q", text, got, err, header)
		}
		if got, err := writing.message(text); err == nil && !utf8.ValidString(got) {
			t.Errorf("header %q: got %q", text, got)
		}
	})
}

// Operations that read, and those that sign in or out, ignore the header.
func TestMessageIgnored(t *testing.T) {
	for name, o := range map[string]*Operation{
		"read": {}, "sign-in": {traits: Issues | SignsInOrOut},
	} {
		if got, err := o.message("%"); got != "" || err != nil {
			t.Errorf("%s: got %q, %v", name, got, err)
		}
	}
}
