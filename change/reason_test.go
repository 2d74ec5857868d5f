package change_test

import (
	"encoding/json"
	"testing"

	"github.com/guidonhq/guidon/change"
)

// A reason has a text, and survives being stored as JSON.
func TestReason(t *testing.T) {
	for _, test := range []struct {
		reason     change.Reason
		text, json string
	}{
		{change.Reason{}, "", `{}`},
		{change.ImportReason(), "import", `{"kind":"import"}`},
		{change.PromotionReason("staging", 412), "promotion from staging@412", `{"kind":"promotion","namespace":"staging","revision":412}`},
		{change.RestoreReason(405), "restore to 405", `{"kind":"restore","revision":405}`},
		{change.UndoReason(405, 405), "undo of 405", `{"kind":"undo","revision":405}`},
		{change.UndoReason(405, 412), "undo of 405 to 412", `{"kind":"undo","revision":405,"last":412}`},
		{change.Reason{Kind: "approval", Revision: 7}, "approval", `{"kind":"approval","revision":7}`}, // of a later release
	} {
		if got := test.reason.String(); got != test.text {
			t.Errorf("%+v: got text %q, want %q", test.reason, got, test.text)
		}
		text, err := json.Marshal(test.reason)
		if err != nil || string(text) != test.json {
			t.Errorf("%+v: got %s, %v; want %s", test.reason, text, err, test.json)
		}
		var got change.Reason
		if err := json.Unmarshal(text, &got); err != nil || got != test.reason {
			t.Errorf("%s: got %+v, %v; want %+v", text, got, err, test.reason)
		}
	}
}

func TestReasonKindKnown(t *testing.T) {
	for kind, want := range map[change.ReasonKind]bool{
		change.ReasonImport: true, change.ReasonPromotion: true, change.ReasonRestore: true, change.ReasonUndo: true,
		"": false, "approval": false, "Import": false,
	} {
		if got := kind.Known(); got != want {
			t.Errorf("%q: got %t, want %t", kind, got, want)
		}
	}
}
