package webhook

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/guidonhq/guidon"
)

// Limits of messages for people.
const (
	maxListed  = 10
	maxDiscord = 2000 // characters, by Discord
)

// lines returns the event in words: who, where, why, and what of at most ten objects.
func (v event) lines() (heading string, rest []string) {
	d := v.Data
	switch {
	case d.Actor == nil:
		heading = "Guidon: " + v.Type
	case d.Namespace == "":
		heading = fmt.Sprintf("%s: %s", cmp.Or(d.Actor.Name, d.Actor.ID), v.Type)
	default:
		heading = fmt.Sprintf("%s changed %s (revision %d)", cmp.Or(d.Actor.Name, d.Actor.ID), d.Namespace, d.Revision)
	}
	if reason := d.Reason.String(); reason != "" {
		heading += ", " + reason
	}
	if d.Message != "" {
		rest = append(rest, "“"+d.Message+"”")
	}
	for i, o := range d.Changes {
		if i == maxListed {
			rest = append(rest, fmt.Sprintf("and %d more", len(d.Changes)-maxListed))
			break
		}
		rest = append(rest, fmt.Sprintf("%s %s: %s", o.Kind, o.Key, o.Summary))
	}
	return heading, rest
}

// text returns all lines, each escaped, and the link, in at most limit bytes.
func (v event) text(escape func(string) string, limit int) string {
	heading, rest := v.lines()
	lines := []string{escape(heading)}
	used := len(lines[0]) + len(v.Data.URL) + 2
	for _, line := range rest {
		line = escape(line)
		if used += len(line) + 1; used > limit {
			break
		}
		lines = append(lines, line)
	}
	if v.Data.URL != "" {
		lines = append(lines, v.Data.URL)
	}
	return strings.Join(lines, "\n")
}

// maxSlack is the number of characters up to which Slack advises that a text is.
const maxSlack = 4000

// slack returns a message for an incoming webhook of Slack. Without mrkdwn nothing in it is formatted, and a mention
// needs the characters that are escaped.
func slack(v event) any {
	escape := strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;").Replace
	return map[string]any{"text": v.text(escape, maxSlack), "mrkdwn": false, "unfurl_links": false}
}

// discord returns a message that notifies nobody.
func discord(v event) any {
	escape := func(text string) string {
		var b strings.Builder
		for _, r := range text {
			if strings.ContainsRune("\\*_~`|>#-[]()<:@", r) {
				b.WriteByte('\\')
			}
			b.WriteRune(r)
		}
		return b.String()
	}
	return map[string]any{
		"content":          guidon.Shorten(v.text(escape, maxDiscord), maxDiscord),
		"allowed_mentions": map[string]any{"parse": []string{}},
	}
}

// teams returns an adaptive card for a workflow of Teams. Text runs are not formatted, and a mention needs entities.
func teams(v event) any {
	heading, rest := v.lines()
	run := func(text, weight string) any {
		return map[string]any{"type": "RichTextBlock", "inlines": []any{map[string]any{"type": "TextRun", "text": text, "weight": weight}}}
	}
	body := []any{run(heading, "Bolder")}
	for _, line := range rest {
		body = append(body, run(line, "Default"))
	}
	card := map[string]any{
		"$schema": "http://adaptivecards.io/schemas/adaptive-card.json", "type": "AdaptiveCard", "version": "1.4", "body": body,
	}
	if v.Data.URL != "" {
		card["actions"] = []any{map[string]any{"type": "Action.OpenUrl", "title": "Open", "url": v.Data.URL}}
	}
	return map[string]any{
		"type":        "message",
		"attachments": []any{map[string]any{"contentType": "application/vnd.microsoft.card.adaptive", "content": card}},
	}
}
