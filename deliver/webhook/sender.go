package webhook

import (
	"context"
	"fmt"
	"time"

	"github.com/guidonhq/guidon/deliver"
)

// Sender sends to one URL that the operator has configured.
type Sender struct {
	Encoder
	Client  *Client
	Name    string // with which the ids begin
	URL     string
	Headers map[string]string
	Secrets []string
}

// Send makes one attempt. problem says why it failed, and asked how long the receiver wants to be left alone. The
// error says that ctx has ended.
func (s *Sender) Send(ctx context.Context, p *deliver.Parcel) (problem string, asked time.Duration, err error) {
	a, err := s.Client.post(ctx, &request{
		url: s.URL, headers: s.Headers, contentType: s.ContentType(), id: idOf(s.Name, p), body: p.Body, secrets: s.Secrets,
	})
	if err != nil {
		return "", 0, err
	}
	return a.err, a.asked, nil
}

// idOf returns the id of a delivery, which is the same for every attempt.
func idOf(name string, p *deliver.Parcel) string {
	return fmt.Sprintf("%s.%s@%d.%d", name, p.Namespace, p.Revision, p.Part)
}
