package issuer_test

import (
	"strings"
	"testing"
	"unicode"

	"github.com/guidonhq/guidon/handler/login/issuer"
	"github.com/guidonhq/guidon/service"
)

func TestEmail(t *testing.T) {
	for _, test := range []struct {
		text   string
		want   bool
		domain string
	}{
		{"a@b", true, "b"}, {"A@B.C", true, "b.c"},
		{"", false, ""}, {"@", false, ""}, {"a", false, ""}, {"@b", false, ""}, {"a@", false, ""}, {"a@b@c", false, ""}, {"a@@b", false, ""},
		{"a b@c", false, ""}, {" a@c", false, ""}, {"a@c\n", false, ""}, {"a@c\x00", false, ""}, {"a@c\u00a0", false, ""}, {"\xff@c", false, ""},
		{"a\u202e@b", false, ""}, {"a\ufffd@b", false, ""},
		{"ä@b", true, "b"}, {"Ä@b", true, "b"}, {"\u212a@b", true, "b"},
		{"a@bücher.example", true, ""}, {"a@\u212a.example", true, ""}, {"a@xn--bcher-kva.example", true, "xn--bcher-kva.example"},
		{"a@b.example:x", true, ""}, {"a@[127.0.0.1]", true, ""}, {"a@.b", true, ""}, {"a@b.", true, ""},
		{strings.Repeat("a", 252) + "@b", true, "b"}, {strings.Repeat("a", 253) + "@b", false, ""},
	} {
		if got := issuer.IsEmail(test.text); got != test.want {
			t.Errorf("%q: got %v, want %v", test.text, got, test.want)
		}
		if got := issuer.EmailDomain(test.text); test.want && got != test.domain {
			t.Errorf("%q: got the domain %q, want %q", test.text, got, test.domain)
		}
	}
	for text, want := range map[string]string{
		"Acme.Example": "acme.example", "": "", "a,b": "", "a b": "", "a\x00": "", "a@b": "", strings.Repeat("a", 254): strings.Repeat("a", 254), strings.Repeat("a", 255): "",
	} {
		if got := issuer.Domain(text); got != want {
			t.Errorf("%q: got the domain %q, want %q", text, got, want)
		}
	}
}

// FuzzEmail: an address has one sign, no space, and a domain that cannot be read in another
// way. It is still one in lower case.
func FuzzEmail(f *testing.F) {
	for _, text := range []string{"Ada@Corp.example", "a@b@c", "@", "a@\u212a", " a@b", "a@b\n", "\"a b\"@c", "\xff@b"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if !issuer.IsEmail(text) {
			return
		}
		folded := service.FoldCase(text)
		if strings.Count(folded, "@") != 1 || strings.ContainsFunc(folded, unicode.IsSpace) || !strings.EqualFold(folded, text) || !issuer.IsEmail(folded) {
			t.Errorf("%q became %q", text, folded)
		}
		domain := issuer.EmailDomain(text)
		if domain != "" && (!strings.HasSuffix(folded, "@"+domain) || strings.ContainsFunc(domain, func(r rune) bool { return r > unicode.MaxASCII || unicode.IsUpper(r) })) {
			t.Errorf("%q has the domain %q", text, domain)
		}
	})
}
