package webhook

import (
	"encoding/json"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/guidonhq/guidon/change"
	"github.com/guidonhq/guidon/deliver"
	"github.com/guidonhq/guidon/service"
)

// event is the body in the format guidon; handler/event.json is its JSON schema.
type event struct {
	Type      string    `json:"type"` // a service.Event, or "test"
	Timestamp time.Time `json:"timestamp"`
	Data      data      `json:"data"`
}

type data struct {
	Namespace string        `json:"namespace,omitempty"`
	Revision  int64         `json:"revision,omitempty"`
	Actor     *change.Actor `json:"actor,omitempty"`
	Message   string        `json:"message,omitempty"`
	Reason    change.Reason `json:"reason,omitzero"`
	URL       string        `json:"url,omitempty"`
	Changes   []object      `json:"changes"`
}

// object is the change of one object.
type object struct {
	Kind     change.Kind     `json:"kind"`
	Key      string          `json:"key"`
	Action   change.Action   `json:"action"`
	Summary  string          `json:"summary"`
	Abridged bool            `json:"abridged,omitempty"` // before and after are left out, because they are too large
	Before   json.RawMessage `json:"before,omitempty"`
	After    json.RawMessage `json:"after,omitempty"`
}

// Encoder makes bodies.
type Encoder struct {
	Format    service.WebhookFormat
	PublicURL string // of this service, or ""
}

// Encode returns the body for the batch.
func (e Encoder) Encode(b *deliver.Batch) ([]byte, error) {
	return e.encode(e.eventOf(b), b.First()), nil
}

// encodeTest returns the body of a test with the message.
func (e Encoder) encodeTest(namespace, message string, now time.Time) []byte {
	if namespace == service.Everywhere {
		namespace = ""
	}
	return e.encode(event{Type: "test", Timestamp: now, Data: data{Namespace: namespace, Message: message, Changes: []object{}}}, nil)
}

func (e Encoder) eventOf(b *deliver.Batch) event {
	first := b.First()
	v := event{Type: string(service.EventOf(first)), Timestamp: first.At.UTC(), Data: data{
		Revision: first.Revision, Actor: &first.Actor, Message: first.Message, Reason: first.Reason, URL: e.link(b.Namespace, first.Revision),
	}}
	if b.Namespace != service.AuthenticationsKey {
		v.Data.Namespace = b.Namespace
	}
	for _, r := range b.Records {
		o := object{Kind: r.Kind, Key: r.Key, Action: r.Action, Summary: r.Summary(), Abridged: b.Abridged}
		o.Before, o.After = r.Objects()
		v.Data.Changes = append(v.Data.Changes, o)
	}
	return v
}

// link returns the address of the page about the revision, or "".
func (e Encoder) link(namespace string, revision int64) string {
	if e.PublicURL == "" || namespace == service.AuthenticationsKey {
		return ""
	}
	return strings.TrimSuffix(e.PublicURL, "/") + "/namespaces/" + url.PathEscape(namespace) + "/changes/" + strconv.FormatInt(revision, 10)
}

// encode returns the body in the format. first is nil for a test.
func (e Encoder) encode(v event, first *change.Record) []byte {
	switch e.Format {
	case service.FormatCloudEvents:
		return change.Encode(e.cloudEvent(v, first))
	case service.FormatSlack:
		return change.Encode(slack(v))
	case service.FormatDiscord:
		return change.Encode(discord(v))
	case service.FormatTeams:
		return change.Encode(teams(v))
	}
	return change.Encode(v)
}

// ContentType returns the type of the bodies.
func (e Encoder) ContentType() string {
	if e.Format == service.FormatCloudEvents {
		return "application/cloudevents+json; charset=utf-8"
	}
	return "application/json"
}

// cloudEvent is an event of CloudEvents 1.0 in structured mode.
type cloudEvent struct {
	SpecVersion     string    `json:"specversion"`
	ID              string    `json:"id"`
	Source          string    `json:"source"`
	Type            string    `json:"type"`
	Subject         string    `json:"subject,omitempty"`
	Time            time.Time `json:"time"`
	DataContentType string    `json:"datacontenttype"`
	Data            data      `json:"data"`
}

func (e Encoder) cloudEvent(v event, first *change.Record) cloudEvent {
	c := cloudEvent{
		SpecVersion: "1.0", Type: "guidon." + v.Type, Time: v.Timestamp, DataContentType: "application/json", Data: v.Data,
		Source: strings.TrimSuffix(e.PublicURL, "/") + "/namespaces/" + url.PathEscape(v.Data.Namespace),
		ID:     "test-" + strconv.FormatInt(v.Timestamp.UnixNano(), 36),
	}
	if v.Data.Namespace == "" {
		c.Source = strings.TrimSuffix(e.PublicURL, "/") + "/"
	}
	if first != nil {
		c.ID = strconv.FormatInt(first.Revision, 10) + "." + strconv.Itoa(int(first.Sequence))
	}
	if len(v.Data.Changes) == 1 {
		c.Subject = string(v.Data.Changes[0].Kind) + "/" + v.Data.Changes[0].Key
	}
	return c
}
