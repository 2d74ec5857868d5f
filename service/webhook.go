package service

import (
	"cmp"
	"context"
	"fmt"
	"net/textproto"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/change"
	"github.com/guidonhq/guidon/internal/lists"
)

// Webhook is a URL to which changes are sent. Its JSON, which change records have, contains no secret.
type Webhook struct {
	ID         string          `json:"id"`
	Name       string          `json:"name"`
	Namespace  string          `json:"namespaceKey"` // a key, or Everywhere
	Host       string          `json:"host"`         // scheme and host of the URL
	Events     []Event         `json:"events"`
	Kinds      []change.Kind   `json:"kinds,omitempty"`   // of EventChange, like Keys; none means all, also of Keys and Actions
	Keys       []string        `json:"keys,omitempty"`    // keys, or beginnings such as "pay-*"
	Actions    []change.Action `json:"actions,omitempty"` //
	Format     WebhookFormat   `json:"format"`
	Headers    []string        `json:"headers,omitempty"` // names, sorted
	State      WebhookState    `json:"state"`
	StateSince time.Time       `json:"stateSince"`
	Cause      string          `json:"cause,omitempty"`    // why it is stopped
	Detached   bool            `json:"detached,omitempty"` // it has no reader: what happens is lost until it is resumed
	Replayed   string          `json:"replayed,omitempty"` // from where deliveries were repeated last, such as "shop@12"
	CreatedAt  time.Time       `json:"createdAt"`
	UpdatedAt  time.Time       `json:"updatedAt"`
	CreatedBy  string          `json:"createdBy,omitempty"`
	PrivateAt  time.Time       `json:"private"`         // when the URL or a header was changed
	SecretAt   time.Time       `json:"secret,omitzero"` // when the secret was changed; zero if an earlier release did it
	Private    WebhookPrivate  `json:"-"`
	LastAt     time.Time       `json:"-"` // of the last delivery; zero if there was none
}

// WebhookPrivate is the part of a webhook that nobody is shown.
type WebhookPrivate struct {
	URL     string            `json:"url"`
	Headers map[string]string `json:"headers,omitempty"`
	Secrets []WebhookSecret   `json:"secrets"` // the newest first
}

// WebhookSecret is a key for signatures.
type WebhookSecret struct {
	Value string    `json:"value"`
	Until time.Time `json:"until,omitzero"` // when it is no longer used; zero for the newest
}

// Event is what a change record is for receivers.
type Event string

// Events. Those other than EventChange are of no namespace.
const (
	EventChange         Event = "change" // of a namespace, a flag or a segment
	EventAuthentication Event = "authentication"
	EventBinding        Event = "binding"
	EventWebhook        Event = "webhook"
)

// Events are all events.
var Events = []Event{EventChange, EventAuthentication, EventBinding, EventWebhook}

// EventOf returns the event of a change record.
func EventOf(c *change.Record) Event {
	if c.Kind.Global() {
		return Event(c.Kind)
	}
	return EventChange
}

// WebhookFormat is the form of the bodies that a webhook sends.
type WebhookFormat string

// Formats.
const (
	FormatGuidon      WebhookFormat = "guidon"
	FormatCloudEvents WebhookFormat = "cloudevents"
	FormatSlack       WebhookFormat = "slack"
	FormatDiscord     WebhookFormat = "discord"
	FormatTeams       WebhookFormat = "teams"
)

// WebhookFormats are all formats.
var WebhookFormats = []WebhookFormat{FormatGuidon, FormatCloudEvents, FormatSlack, FormatDiscord, FormatTeams}

// WebhookState is whether a webhook delivers.
type WebhookState string

// States.
const (
	WebhookActive  WebhookState = "active"
	WebhookPaused  WebhookState = "paused"  // by a call
	WebhookStopped WebhookState = "stopped" // because deliveries failed
)

// Covers reports whether the webhook is about the namespace, of which [AuthenticationsKey] is one.
func (h *Webhook) Covers(namespace string) bool {
	return h.Namespace == Everywhere || h.Namespace == namespace
}

// Selects reports whether the webhook delivers the change record, of a namespace that it covers.
func (h *Webhook) Selects(c *change.Record) bool {
	if !slices.Contains(h.Events, EventOf(c)) || len(h.Actions) > 0 && !slices.Contains(h.Actions, c.Action) {
		return false
	}
	return c.Kind.Global() || (len(h.Kinds) == 0 || slices.Contains(h.Kinds, c.Kind)) &&
		(len(h.Keys) == 0 || slices.ContainsFunc(h.Keys, func(pattern string) bool { return covers(pattern, c.Key) }))
}

// ValidSecrets returns the secrets that sign at the time.
func (h *Webhook) ValidSecrets(now time.Time) (values []string) {
	for _, s := range h.Private.Secrets {
		if s.Until.IsZero() || now.Before(s.Until) {
			values = append(values, s.Value)
		}
	}
	return values
}

// WebhookFailure says that deliveries of a webhook for a namespace fail.
type WebhookFailure struct {
	Webhook   string // id
	Namespace string
	Part      int32 // of the delivery
	Attempts  int
	NextAt    time.Time // of the next attempt
	Since     time.Time // of the first failure
}

// WebhookDelivery is one attempt to send something.
type WebhookDelivery struct {
	Webhook   string // id
	Number    int64  // rises with each attempt of the webhook
	Namespace string // empty for a test, like Revision
	Revision  int64
	Part      int32 // the sequence of its first record
	Attempt   int   // from 1
	At        time.Time
	Took      time.Duration
	Status    int    // of HTTP; 0 without an answer
	Error     string // why it failed, without addresses; "" if it succeeded
	Answer    string // the beginning of the answer's body
}

// WebhookAttempt is a delivery and what follows from it.
type WebhookAttempt struct {
	WebhookDelivery
	Failure *WebhookFailure // to be remembered; nil if the delivery succeeded
	From    guidon.Position // where the reader is
	Past    *change.Record  // to which it goes, if the delivery succeeded
}

// Bounds of what is kept of deliveries, for each webhook.
const (
	MaxDeliveries  = 1000
	KeepDeliveries = 7 * 24 * time.Hour
)

// WebhookStore keeps webhooks and their deliveries. They are changed by [AuthenticationTx]. The errors are
// those of [Store] and [ChangeReaders].
type WebhookStore interface {
	ChangeReaders
	// Webhooks returns all webhooks in creation order, with their private parts.
	Webhooks(ctx context.Context) ([]*Webhook, error)
	// WebhookFailures returns the failures of the webhook, or of all if id is empty.
	WebhookFailures(ctx context.Context, id string) ([]WebhookFailure, error)
	// RecordAttempt stores the delivery, of which it sets the number, and the failure, or that there is none.
	// If Past is set, it also does what AdvanceReader does, or nothing at all.
	RecordAttempt(ctx context.Context, a *WebhookAttempt) error
	// Deliveries returns at most limit deliveries of the webhook whose numbers are less than before, the newest
	// first. Zero means all.
	Deliveries(ctx context.Context, id string, before int64, limit int) ([]*WebhookDelivery, error)
}

// Limits of webhooks.
const (
	maxWebhooks       = 80
	maxWebhookName    = 100
	maxWebhookURL     = 2 << 10
	maxWebhookHeaders = 10
	maxHeaderBytes    = 8 << 10
	maxFilter         = 100
)

// WebhookInput holds what a caller says of a webhook.
type WebhookInput struct {
	Name    string
	URL     string // empty in an update: as it is
	Events  []Event
	Kinds   []change.Kind
	Keys    []string
	Actions []change.Action
	Format  WebhookFormat
	Headers map[string]string // an empty value in an update: as it is
}

// apply puts the input into the webhook, after checks.
func (in *WebhookInput) apply(h *Webhook, allowHTTP bool) error {
	if in.Name == "" {
		return emptyField("name")
	}
	if len(in.Name) > maxWebhookName || !IsClean(in.Name) {
		return invalidField("name", fmt.Sprintf("must not be longer than %d bytes or contain control characters", maxWebhookName))
	}
	if err := in.checkFilter(h.Namespace); err != nil {
		return err
	}
	if in.URL != "" {
		host, err := checkWebhookURL(in.URL, allowHTTP)
		if err != nil {
			return err
		}
		if host != h.Host { // nobody may send stored values to a host of their choice
			h.Private.Headers = nil
		}
		h.Host, h.Private.URL = host, in.URL
	}
	if h.Private.URL == "" {
		return emptyField("url")
	}
	if err := in.applyHeaders(h); err != nil {
		return err
	}
	h.Name, h.Events, h.Kinds, h.Keys, h.Actions, h.Format = in.Name, in.Events, in.Kinds, in.Keys, in.Actions, in.Format
	return nil
}

// checkFilter checks what the webhook selects, and its format, and sets defaults.
func (in *WebhookInput) checkFilter(namespace string) error {
	if len(in.Events) == 0 {
		in.Events = []Event{EventChange}
	}
	if in.Format == "" {
		in.Format = FormatGuidon
	}
	events := Events
	if namespace != Everywhere {
		events = Events[:1]
	}
	if err := cmp.Or(
		checkAmong("events", in.Events, events),
		checkAmong("kinds", in.Kinds, []change.Kind{change.KindNamespace, change.KindFlag, change.KindSegment}),
		checkAmong("actions", in.Actions, []change.Action{change.ActionCreate, change.ActionUpdate, change.ActionDelete}),
		checkAmong("format", []WebhookFormat{in.Format}, WebhookFormats),
	); err != nil {
		return err
	}
	if len(in.Keys) > maxFilter {
		return invalidField("keys", fmt.Sprintf("must not be more than %d", maxFilter))
	}
	for _, key := range in.Keys {
		if plain := strings.TrimSuffix(key, "*"); key == "" || plain != "" && !ValidNamespaceKey(plain) {
			return invalidField("keys", `must be keys or beginnings of keys such as "pay-*"`)
		}
	}
	return nil
}

func checkAmong[T ~string](field string, values, allowed []T) error {
	for _, value := range values {
		if !slices.Contains(allowed, value) {
			return invalidField(field, "must be "+lists.Join(allowed, "or"))
		}
	}
	if len(lists.Distinct(values)) < len(values) {
		return invalidField(field, "must not repeat anything")
	}
	return nil
}

// checkWebhookURL returns the scheme and host of the URL. Which addresses are allowed is checked when it is
// dialed. Errors do not repeat the URL, which may have a secret.
func checkWebhookURL(text string, allowHTTP bool) (host string, err error) {
	if len(text) > maxWebhookURL {
		return "", invalidField("url", fmt.Sprintf("must not be longer than %d bytes", maxWebhookURL))
	}
	u, err := url.Parse(text)
	switch {
	case err != nil || u.Opaque != "" || u.Hostname() == "" || !IsClean(text) || strings.Contains(text, " "):
		return "", invalidField("url", "must be a URL such as https://receiver.example/changes")
	case u.Scheme == "http" && !allowHTTP:
		return "", invalidField("url", "must be https (see webhooks.allow_http)")
	case u.Scheme != "https" && u.Scheme != "http":
		return "", invalidField("url", "must be https")
	case u.User != nil:
		return "", invalidField("url", "must not contain a user name or password; use a header")
	case u.Fragment != "" || strings.Contains(text, "#"):
		return "", invalidField("url", "must not have a fragment")
	}
	return u.Scheme + "://" + u.Host, nil
}

var headerNamePattern = regexp.MustCompile("^[!#$%&'*+.^_`|~0-9A-Za-z-]+$")

// reservedHeaders are names, in lower case, that a webhook must not set: the service does, or they are about
// the connection.
var reservedHeaders = []string{
	"host", "user-agent", "connection", "keep-alive", "te", "trailer", "transfer-encoding", "upgrade", "expect", "x-flipt-webhook-signature",
}

// reservedBeginnings are those of further names.
var reservedBeginnings = []string{"content-", "webhook-", "proxy-"}

// checkHeaderName returns InvalidArgument unless a webhook may set the header.
func checkHeaderName(name string) error {
	folded := strings.ToLower(name)
	if !headerNamePattern.MatchString(name) {
		return invalidField("headers", fmt.Sprintf("%q is not the name of a header", guidon.Shorten(name, 100)))
	}
	begins := func(beginning string) bool { return strings.HasPrefix(folded, beginning) }
	if slices.Contains(reservedHeaders, folded) || slices.ContainsFunc(reservedBeginnings, begins) {
		return invalidField("headers", fmt.Sprintf("%s cannot be set", guidon.Shorten(name, 100)))
	}
	return nil
}

func (in *WebhookInput) applyHeaders(h *Webhook) error {
	if len(in.Headers) > maxWebhookHeaders {
		return invalidField("headers", fmt.Sprintf("must not be more than %d", maxWebhookHeaders))
	}
	values, names, size := map[string]string{}, []string{}, 0
	for name, value := range in.Headers {
		if err := checkHeaderName(name); err != nil {
			return err
		}
		name = textproto.CanonicalMIMEHeaderKey(name)
		if values[name] != "" {
			return invalidField("headers", name+" must not be repeated")
		}
		if value == "" {
			value = h.Private.Headers[name]
		}
		if value == "" {
			return invalidField("headers", name+" must have a value; stored ones are only kept for the same host")
		}
		if strings.ContainsFunc(value, func(r rune) bool { return r < ' ' && r != '\t' || r > '~' }) {
			return invalidField("headers", "the value of "+name+" must be printable ASCII")
		}
		size += len(name) + len(value)
		values[name], names = value, append(names, name)
	}
	if size > maxHeaderBytes {
		return invalidField("headers", fmt.Sprintf("must not be larger than %d bytes in total", maxHeaderBytes))
	}
	slices.Sort(names)
	h.Headers, h.Private.Headers = names, values
	return nil
}
