package guidon_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/guidonhq/guidon"
)

func TestErrorIs(t *testing.T) {
	cause := errors.New("disk full")
	err := fmt.Errorf("updating: %w", &guidon.Error{Code: guidon.Unavailable, Message: "try again later", Err: cause})
	for target, want := range map[error]bool{
		guidon.Unavailable: true, cause: true, guidon.NotFound: false, guidon.Internal: false,
	} {
		if got := errors.Is(err, target); got != want {
			t.Errorf("errors.Is(%v): got %t, want %t", target, got, want)
		}
	}
	if got, want := err.Error(), "updating: try again later: disk full"; got != want {
		t.Errorf("text: got %q, want %q", got, want)
	}
}

// TestPublicMessage: clients see messages meant for them, and no internal ones.
func TestPublicMessage(t *testing.T) {
	tests := []struct {
		name string
		err  error
		code guidon.Code
		want string
	}{
		{"an Error", guidon.Errorf(guidon.NotFound, "flag %q not found", "default/f"), guidon.NotFound, `flag "default/f" not found`},
		{"wrapped", fmt.Errorf("reading: %w", guidon.Errorf(guidon.NotFound, "gone")), guidon.NotFound, "gone"},
		{"with a cause", &guidon.Error{Code: guidon.Unavailable, Message: "try again", Err: errors.New("secret")}, guidon.Unavailable, "try again"},
		{"the outermost of two", &guidon.Error{
			Code: guidon.InvalidArgument, Message: "bad", Err: guidon.Errorf(guidon.NotFound, "gone"),
		}, guidon.InvalidArgument, "bad"},
		{"long", &guidon.Error{Code: guidon.NotFound, Message: strings.Repeat("ä", 2000)}, guidon.NotFound, strings.Repeat("ä", 1022) + "…"},
		{"internal", guidon.Errorf(guidon.Internal, "table flags"), guidon.Internal, "internal error"},
		{"not an Error", errors.New("SELECT secret"), guidon.Internal, "internal error"},
		{"a bare code", guidon.NotFound, guidon.Internal, "internal error"},
		{"canceled", fmt.Errorf("query: %w", context.Canceled), guidon.Canceled, "canceled"},
		{"deadline", fmt.Errorf("query: %w", context.DeadlineExceeded), guidon.DeadlineExceeded, "deadline exceeded"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := guidon.CodeOf(tt.err); got != tt.code {
				t.Errorf("code: got %v, want %v", got, tt.code)
			}
			if got := guidon.PublicMessage(tt.err); got != tt.want {
				t.Errorf("message: got %q, want %q", got, tt.want)
			}
		})
	}
}

func TestCodeText(t *testing.T) {
	seen := make(map[string]guidon.Code)
	for code := guidon.Internal; code <= guidon.DeadlineExceeded; code++ {
		text := code.Error()
		if other, taken := seen[text]; text == "" || taken {
			t.Errorf("code %d: text %q is empty or also that of code %d", uint8(code), text, uint8(other))
		}
		seen[text] = code
	}
	if got, want := guidon.Code(200).Error(), "code 200"; got != want {
		t.Errorf("unknown code: got %q, want %q", got, want)
	}
}

func TestShorten(t *testing.T) {
	for _, tt := range []struct {
		text  string
		limit int
		want  string
	}{
		{"", 3, ""},
		{"abcdef", 6, "abcdef"},
		{"abcdefg", 6, "abc…"},
		{"ääää", 8, "ääää"},
		{"ääää", 7, "ää…"},
		{"ääää", 6, "ä…"},
		{"🎈🎈", 6, "…"},
		{"abcd", 3, "…"},
		{"\x80\x80\x80\x80", 3, "…"},
	} {
		if got := guidon.Shorten(tt.text, tt.limit); got != tt.want {
			t.Errorf("Shorten(%q, %d): got %q, want %q", tt.text, tt.limit, got, tt.want)
		}
	}
}
