package codec_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/handler/codec"
	"github.com/guidonhq/guidon/handler/wire/evaluation"
)

// A body of many tiny values must not take many times its size in memory.
func TestUnmarshalBoundsTheNumberOfValues(t *testing.T) {
	tests := []struct {
		name  string
		body  string
		fails bool
	}{
		{"one too many", `{"requests":[` + strings.Repeat("{},", 99_999) + `{}]}`, true},
		{"at the limit", `{"requests":[` + strings.Repeat("{},", 99_998) + `{}]}`, false},
		{"ignored ones count too", `{"unknown":[` + strings.Repeat("0,", 100_000) + `0]}`, true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			err := codec.Unmarshal([]byte(tt.body), &evaluation.BatchEvaluationRequest{}, 100_000)
			if tt.fails != errors.Is(err, guidon.TooLarge) || !tt.fails && err != nil {
				t.Errorf("got error %v, want one: %t", err, tt.fails)
			}
		})
	}
}
