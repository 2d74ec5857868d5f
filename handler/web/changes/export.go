package changes

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"net/http"
	"strings"
	"time"

	"github.com/guidonhq/guidon/handler/web/page"
	"github.com/guidonhq/guidon/handler/wire/guidonv1"
)

// The formats of exports.
const (
	formatCSV  = "csv"
	formatJSON = "json"
)

// Limits of an export.
const (
	maxExported    = 5000 // records
	maxExportReads = 100  // pages of records
)

// exportedChange is a change in an export.
type exportedChange struct {
	Revision  int64  `json:"revision"`
	Time      string `json:"time"`
	ActorID   string `json:"actorId"`
	Actor     string `json:"actor"`
	Action    string `json:"action"`
	Kind      string `json:"kind"`
	Key       string `json:"key"`
	Summary   string `json:"summary"`
	Message   string `json:"message,omitempty"`
	Reason    string `json:"reason,omitempty"`
	RequestID string `json:"requestId,omitempty"`
}

// exportedList is an export.
type exportedList struct {
	Namespace string           `json:"namespace"`
	Changes   []exportedChange `json:"changes"`
	More      bool             `json:"more"` // older changes match too
	Limit     int              `json:"limit"`
}

// export responds with the changes of the list as a file.
func export(v *page.Visit, f *filter, format string) error {
	l := exportedList{Namespace: v.Key(), Changes: []exportedChange{}, Limit: maxExported}
	if err := l.read(v, f.request); err != nil {
		return err
	}
	var body []byte
	contentType := "application/json"
	if format == formatCSV {
		contentType, body = "text/csv; charset=utf-8; header=present", l.csv()
	} else {
		var err error
		if body, err = json.MarshalIndent(l, "", "  "); err != nil {
			return err
		}
	}
	v.Header().Set("Content-Disposition", `attachment; filename="changes-`+v.Key()+"."+format+`"`) // keys have no quotes
	v.Exchange.Reply(http.StatusOK, contentType, body)
	return nil
}

// read reads the changes, the newest first.
func (l *exportedList) read(v *page.Visit, request *guidonv1.ListChangesRequest) error {
	for range maxExportReads {
		request.MaxObjectBytes = namesOnly
		request.Limit = int32(min(pageSize, maxExported-len(l.Changes))) // #nosec G115 -- at most 100
		answer, err := page.ListChanges.Run(v, request)
		if err != nil {
			return err
		}
		for _, c := range answer.GetChanges() {
			l.Changes = append(l.Changes, exportedChangeOf(c))
		}
		request.PageToken = answer.GetNextPageToken()
		if request.GetPageToken() == "" || len(l.Changes) >= maxExported {
			break
		}
	}
	l.More = request.GetPageToken() != ""
	return nil
}

func exportedChangeOf(c *guidonv1.Change) exportedChange {
	return exportedChange{
		Revision: c.GetRevision(), Time: c.GetAt().AsTime().UTC().Format(time.RFC3339Nano),
		ActorID: c.GetActor().GetId(), Actor: page.ActorOf(c.GetActor()).String(),
		Action: c.GetAction(), Kind: c.GetKind(), Key: c.GetKey(), Summary: c.GetSummary(),
		Message: c.GetMessage(), Reason: c.GetReason().GetText(), RequestID: c.GetRequestId(),
	}
}

// csv returns the export as CSV (RFC 4180). Its last line says if there are more changes.
func (l *exportedList) csv() []byte {
	var out bytes.Buffer
	w := csv.NewWriter(&out)
	w.UseCRLF = true
	rows := [][]string{{"revision", "time", "actor id", "actor", "action", "kind", "key", "summary", "message", "reason", "request id"}}
	for _, c := range l.Changes {
		rows = append(rows, []string{
			page.Revision(c.Revision), c.Time, c.ActorID, c.Actor, c.Action, c.Kind, c.Key, c.Summary, c.Message, c.Reason, c.RequestID,
		})
	}
	if l.More {
		end := make([]string, len(rows[0]))
		end[7] = "There are older changes: this file has the newest " + page.Number(len(l.Changes)) + "."
		rows = append(rows, end)
	}
	for _, row := range rows {
		for i := range row {
			row[i] = noFormula(row[i])
		}
	}
	_ = w.WriteAll(rows) // a buffer does not fail
	return out.Bytes()
}

// formulas are the characters with which spreadsheets recognize formulas, also in their
// full width.
const formulas = "=+-@\t\r\n＝＋－＠"

// noFormula returns the text so that no spreadsheet takes it for a formula: an apostrophe
// makes it a text.
func noFormula(text string) string {
	if text != "" && strings.ContainsRune(formulas, []rune(text)[0]) {
		return "'" + text
	}
	return text
}
