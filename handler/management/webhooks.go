package management

import (
	"cmp"
	"context"

	"google.golang.org/protobuf/types/known/emptypb"

	"github.com/guidonhq/guidon/change"
	"github.com/guidonhq/guidon/handler/call"
	"github.com/guidonhq/guidon/handler/convert"
	"github.com/guidonhq/guidon/handler/wire/guidonv1"
	"github.com/guidonhq/guidon/internal/lists"
	"github.com/guidonhq/guidon/service"
)

// webhookNamespace returns the namespace of a request about webhooks; without one it is about all.
func webhookNamespace(m interface{ GetNamespaceKey() string }) string {
	return cmp.Or(m.GetNamespaceKey(), service.Everywhere)
}

// ListWebhooks lists the webhooks of a namespace, or all.
func ListWebhooks(ctx context.Context, s *service.Service, _ *call.Call, m *guidonv1.ListWebhooksRequest) (*guidonv1.WebhookList, error) {
	all, err := s.ListWebhooks(ctx, webhookNamespace(m))
	return &guidonv1.WebhookList{Webhooks: lists.Map(all, wireWebhook)}, err
}

// GetWebhook returns a webhook.
func GetWebhook(ctx context.Context, s *service.Service, c *call.Call, m *guidonv1.WebhookRequest) (*guidonv1.Webhook, error) {
	view, err := s.Webhook(ctx, c.Caller, webhookNamespace(m), m.GetId())
	return convert.Result(view, err, wireWebhook)
}

// webhookInput is what requests to create and to update have in common.
type webhookInput interface {
	GetName() string
	GetUrl() string
	GetEvents() []string
	GetKinds() []string
	GetKeys() []string
	GetActions() []string
	GetFormat() string
	GetHeaders() map[string]string
}

func webhookInputOf(m webhookInput) service.WebhookInput {
	return service.WebhookInput{
		Name: m.GetName(), URL: m.GetUrl(), Format: service.WebhookFormat(m.GetFormat()), Headers: m.GetHeaders(),
		Events: as[service.Event](m.GetEvents()), Kinds: as[change.Kind](m.GetKinds()), Keys: m.GetKeys(),
		Actions: as[change.Action](m.GetActions()),
	}
}

// as returns the texts as values of another type.
func as[T, S ~string](texts []S) []T {
	return lists.Map(texts, func(text S) T { return T(text) })
}

// CreateWebhook creates a webhook.
func CreateWebhook(ctx context.Context, s *service.Service, w service.Write, m *guidonv1.CreateWebhookRequest) (*guidonv1.Webhook, error) {
	view, secret, err := s.CreateWebhook(ctx, w, webhookNamespace(m), webhookInputOf(m))
	return withSecret(view, secret, err)
}

// withSecret returns the webhook with its new secret.
func withSecret(view service.WebhookView, secret string, err error) (*guidonv1.Webhook, error) {
	if err != nil {
		return nil, err
	}
	m := wireWebhook(view)
	if secret != "" { // else it is a dry run
		m.Secret = &secret
	}
	return m, nil
}

// UpdateWebhook replaces what a webhook sends.
func UpdateWebhook(ctx context.Context, s *service.Service, w service.Write, m *guidonv1.UpdateWebhookRequest) (*guidonv1.Webhook, error) {
	view, err := s.UpdateWebhook(ctx, w, webhookNamespace(m), m.GetId(), webhookInputOf(m))
	return convert.Result(view, err, wireWebhook)
}

// DeleteWebhook deletes a webhook.
func DeleteWebhook(ctx context.Context, s *service.Service, w service.Write, m *guidonv1.WebhookRequest) (*emptypb.Empty, error) {
	return &emptypb.Empty{}, s.DeleteWebhook(ctx, w, webhookNamespace(m), m.GetId())
}

// RotateWebhookSecret gives a webhook a new secret.
func RotateWebhookSecret(
	ctx context.Context, s *service.Service, w service.Write, m *guidonv1.RotateWebhookSecretRequest,
) (*guidonv1.Webhook, error) {
	overlap := service.DefaultSecretOverlap
	if m.GetOverlap() != nil {
		overlap = m.GetOverlap().AsDuration()
	}
	view, secret, err := s.RotateWebhookSecret(ctx, w, webhookNamespace(m), m.GetId(), overlap)
	return withSecret(view, secret, err)
}

// TestWebhook sends a test.
func TestWebhook(ctx context.Context, s *service.Service, w service.Write, m *guidonv1.WebhookRequest) (*guidonv1.WebhookDelivery, error) {
	delivery, err := s.TestWebhook(ctx, w, webhookNamespace(m), m.GetId())
	return convert.Result(delivery, err, wireDelivery)
}

// PauseWebhook pauses a webhook.
func PauseWebhook(ctx context.Context, s *service.Service, w service.Write, m *guidonv1.WebhookRequest) (*guidonv1.Webhook, error) {
	view, err := s.PauseWebhook(ctx, w, webhookNamespace(m), m.GetId())
	return convert.Result(view, err, wireWebhook)
}

// ResumeWebhook makes a webhook send again.
func ResumeWebhook(ctx context.Context, s *service.Service, w service.Write, m *guidonv1.WebhookRequest) (*guidonv1.Webhook, error) {
	view, err := s.ResumeWebhook(ctx, w, webhookNamespace(m), m.GetId())
	return convert.Result(view, err, wireWebhook)
}

// ReplayWebhook makes a webhook send changes again.
func ReplayWebhook(ctx context.Context, s *service.Service, w service.Write, m *guidonv1.ReplayWebhookRequest) (*guidonv1.Webhook, error) {
	view, err := s.ReplayWebhook(ctx, w, webhookNamespace(m), m.GetId(), m.GetRevision())
	return convert.Result(view, err, wireWebhook)
}

// ListDeliveries lists what a webhook has sent.
func ListDeliveries(
	ctx context.Context, s *service.Service, c *call.Call, m *guidonv1.ListDeliveriesRequest,
) (*guidonv1.WebhookDeliveryList, error) {
	all, err := s.ListDeliveries(ctx, c.Caller, webhookNamespace(m), m.GetId(), m.GetBefore(), int(m.GetLimit()))
	return &guidonv1.WebhookDeliveryList{Deliveries: lists.Map(all, wireDelivery)}, err
}

func wireWebhook(v service.WebhookView) *guidonv1.Webhook {
	m := &guidonv1.Webhook{
		Id: v.ID, Name: v.Name, NamespaceKey: v.Namespace, Host: v.Host, Events: as[string](v.Events), Kinds: as[string](v.Kinds),
		Keys: v.Keys, Actions: as[string](v.Actions), Format: string(v.Format), Headers: map[string]string{},
		State: string(v.State), StateSince: convert.Timestamp(v.StateSince), Cause: v.Cause, Detached: v.Detached,
		Failures:  lists.Map(v.Failures, wireFailure),
		CreatedAt: convert.Timestamp(v.CreatedAt), UpdatedAt: convert.Timestamp(v.UpdatedAt), CreatedBy: v.CreatedBy,
		LastDeliveryAt: convert.Timestamp(v.LastAt),
	}
	for _, name := range v.Headers {
		m.Headers[name] = ""
	}
	return m
}

func wireFailure(f service.WebhookFailure) *guidonv1.WebhookFailure {
	return &guidonv1.WebhookFailure{
		NamespaceKey: f.Namespace, Attempts: int32(f.Attempts), // #nosec G115 -- a number of attempts within days
		Since: convert.Timestamp(f.Since), NextAt: convert.Timestamp(f.NextAt),
	}
}

func wireDelivery(v *service.WebhookDelivery) *guidonv1.WebhookDelivery {
	return &guidonv1.WebhookDelivery{
		Number: v.Number, NamespaceKey: v.Namespace, Revision: v.Revision, Part: v.Part,
		Attempt: int32(v.Attempt), Milliseconds: int32(v.Took.Milliseconds()), Status: int32(v.Status), // #nosec G115 -- small numbers
		At: convert.Timestamp(v.At), Error: v.Error, Answer: v.Answer,
	}
}
