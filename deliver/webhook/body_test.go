package webhook

import (
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/guidonhq/guidon/change"
	"github.com/guidonhq/guidon/deliver"
	"github.com/guidonhq/guidon/service"
)

// hostile has what each of the formats would interpret.
const hostile = "<!channel> <@U1> @everyone *b* _i_ `c` [x](https://evil.example) &amp; \\ \"q\" <at>all</at>"

func hostileBatch(n int) *deliver.Batch {
	b := &deliver.Batch{Namespace: "shop"}
	for i := range n {
		b.Records = append(b.Records, &change.Record{
			Namespace: "shop", Revision: 12, Sequence: int32(i), Kind: change.KindFlag, Key: fmt.Sprint("f", i), Action: change.ActionCreate,
			Actor: change.Actor{ID: "token:1", Name: hostile}, Message: hostile, At: time.Date(2026, 6, 3, 9, 12, 0, 0, time.UTC),
			After: json.RawMessage(`{"key":"f","name":"n","type":"BOOLEAN_FLAG_TYPE+2"}`), Reason: change.ImportReason(),
		})
	}
	return b
}

func encoded(t *testing.T, format service.WebhookFormat, b *deliver.Batch) (text string, object map[string]any) {
	t.Helper()
	body, err := Encoder{format, "https://flags.example"}.Encode(b)
	if err == nil {
		err = json.Unmarshal(body, &object)
	}
	if err != nil {
		t.Fatal(err)
	}
	return string(body), object
}

// Messages say who, where, why and what of ten objects, and have a link. Nothing in them is formatted or mentions anybody.
func TestMessages(t *testing.T) {
	const link = "https://flags.example/namespaces/shop/changes/12"
	_, slack := encoded(t, service.FormatSlack, hostileBatch(22))
	text := slack["text"].(string)
	if strings.ContainsAny(text, "<>") || slack["mrkdwn"] != false || strings.Count(text, "\n") != 13 || !strings.Contains(text, "and 12 more") || !strings.HasSuffix(text, link) {
		t.Errorf("slack: got %v", slack)
	}
	_, discord := encoded(t, service.FormatDiscord, hostileBatch(22))
	text = discord["content"].(string)
	unescaped := strings.NewReplacer(`\\`, "", `\*`, "", `\@`, "", `\<`, "", `\>`, "", `\_`, "", "\\`", "", `\[`, "", `\]`, "", `\(`, "", `\)`, "", `\-`, "", `\:`, "").Replace(strings.TrimSuffix(text, link))
	if strings.ContainsAny(unescaped, "\\*@<>_`[]()") || len([]rune(text)) > 2000 || !cmp.Equal(discord["allowed_mentions"], map[string]any{"parse": []any{}}) || !strings.HasSuffix(text, link) {
		t.Errorf("discord: got %v", discord)
	}
	body, teams := encoded(t, service.FormatTeams, hostileBatch(22))
	if strings.Contains(body, "TextBlock\"") && !strings.Contains(body, "RichTextBlock") || strings.Contains(body, "msteams") || strings.Count(body, "TextRun") != 13 || teams["type"] != "message" || !strings.Contains(body, link) {
		t.Errorf("teams: got %s", body)
	}
	for _, format := range []service.WebhookFormat{service.FormatSlack, service.FormatDiscord, service.FormatTeams} {
		b := hostileBatch(100)
		b.Records[0].Message = strings.Repeat("*", 1000)
		if text, _ := encoded(t, format, b); len(text) > 16<<10 {
			t.Errorf("%s: got %d bytes", format, len(text))
		}
	}
}

func TestCloudEvent(t *testing.T) {
	_, got := encoded(t, service.FormatCloudEvents, hostileBatch(1))
	content := got["data"].(map[string]any)
	delete(got, "data")
	want := map[string]any{
		"specversion": "1.0", "id": "12.0", "source": "https://flags.example/namespaces/shop", "type": "guidon.change", "subject": "flag/f0",
		"time": "2026-06-03T09:12:00Z", "datacontenttype": "application/json",
	}
	if diff := cmp.Diff(want, got); diff != "" || content["revision"] != 12.0 {
		t.Errorf("data %v (-want +got):\n%s", content, diff)
	}
	if _, got := encoded(t, service.FormatCloudEvents, hostileBatch(2)); got["subject"] != nil {
		t.Errorf("of two objects: got subject %v", got["subject"])
	}
}

// The JSON schema describes what is sent: nothing is missing in it, and what it requires is there.
func TestSchema(t *testing.T) {
	text, err := os.ReadFile("../../handler/event.json")
	if err != nil {
		t.Fatal(err)
	}
	var schema map[string]any
	if err := json.Unmarshal(text, &schema); err != nil {
		t.Fatal(err)
	}
	full := hostileBatch(2)
	full.Records[0].Actor.Method = "token"
	full.Records[0].Reason = change.PromotionReason("staging", 4)
	full.Records[1].Before, full.Records[1].After = full.Records[1].After, nil
	abridged := hostileBatch(1)
	abridged.Abridged = true
	global := &deliver.Batch{Namespace: service.AuthenticationsKey, Records: []*change.Record{{Kind: change.KindWebhook, Key: "id", Action: change.ActionDelete}}}
	for name, b := range map[string]*deliver.Batch{"full": full, "abridged": abridged, "global": global} {
		body, object := encoded(t, service.FormatGuidon, b)
		for _, problem := range conforms("", schema, object) {
			t.Errorf("%s: %s: %s", name, problem, body)
		}
		if strings.Contains(body, "_TYPE+") {
			t.Errorf("%s: the mark of the stored form is sent: %s", name, body)
		}
	}
	var object map[string]any
	err = json.Unmarshal(Encoder{}.encodeTest("shop", "m", time.Now()), &object)
	if problems := conforms("", schema, object); err != nil || len(problems) > 0 {
		t.Errorf("a test: %v, %v", err, problems)
	}
	if problems := conforms("", schema, map[string]any{"type": "x", "data": map[string]any{"other": 1}}); len(problems) < 3 {
		t.Errorf("an invalid body: got %q", problems)
	}
}

// conforms returns what of the value the schema does not allow, by the keywords that event.json uses. Unlike in JSON
// schema, further members are not allowed.
func conforms(path string, schema map[string]any, value any) (problems []string) {
	if allowed, ok := schema["enum"].([]any); ok && !slices.Contains(allowed, value) {
		problems = append(problems, fmt.Sprintf("%s: %v is none of %v", path, value, allowed))
	}
	kind := map[any]func() bool{
		"object": func() bool { _, ok := value.(map[string]any); return ok }, "array": func() bool { _, ok := value.([]any); return ok },
		"string": func() bool { _, ok := value.(string); return ok }, "boolean": func() bool { _, ok := value.(bool); return ok },
		"integer": func() bool { f, ok := value.(float64); return ok && f == float64(int64(f)) },
	}
	if is := kind[schema["type"]]; is != nil && !is() {
		return append(problems, fmt.Sprintf("%s: %v is no %v", path, value, schema["type"]))
	}
	switch value := value.(type) {
	case []any:
		for i, item := range value {
			problems = append(problems, conforms(fmt.Sprint(path, "/", i), schema["items"].(map[string]any), item)...)
		}
	case map[string]any:
		properties, described := schema["properties"].(map[string]any)
		if !described {
			return problems
		}
		required, _ := schema["required"].([]any)
		for _, name := range required {
			if _, ok := value[name.(string)]; !ok {
				problems = append(problems, fmt.Sprintf("%s: %v is missing", path, name))
			}
		}
		for name, member := range value {
			property, ok := properties[name].(map[string]any)
			if !ok {
				problems = append(problems, path+"/"+name+": is not described")
				continue
			}
			problems = append(problems, conforms(path+"/"+name, property, member)...)
		}
	}
	return problems
}
