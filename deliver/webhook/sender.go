package webhook

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/guidonhq/guidon/deliver"
)

// Sender sends to one URL.
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
	a, err := s.deliver(ctx, p)
	if err != nil {
		return "", 0, err
	}
	return a.err, a.asked, nil
}

// deliver makes one attempt. The id of a delivery is the same for every attempt.
func (s *Sender) deliver(ctx context.Context, p *deliver.Parcel) (*answer, error) {
	return s.Client.post(ctx, s, fmt.Sprintf("%s.%s@%d.%d", s.Name, p.Namespace, p.Revision, p.Part), p.Body)
}

// sign sets the headers of Standard Webhooks, with a signature for each secret. With flipt also that of Flipt, by the
// first secret.
func sign(h http.Header, id string, now time.Time, body []byte, secrets []string, flipt bool) {
	at := strconv.FormatInt(now.Unix(), 10)
	h.Set("webhook-id", id)
	h.Set("webhook-timestamp", at)
	signatures := make([]string, len(secrets))
	for i, secret := range secrets {
		mac := hmac.New(sha256.New, keyOf(secret))
		_, _ = mac.Write([]byte(id + "." + at + "."))
		_, _ = mac.Write(body)
		signatures[i] = "v1," + base64.StdEncoding.EncodeToString(mac.Sum(nil))
	}
	if len(secrets) == 0 {
		return
	}
	h.Set("webhook-signature", strings.Join(signatures, " "))
	if flipt {
		mac := hmac.New(sha256.New, []byte(secrets[0]))
		_, _ = mac.Write(body)
		h.Set("x-flipt-webhook-signature", hex.EncodeToString(mac.Sum(nil)))
	}
}

// keyOf returns the key of a secret, which is base64 after the prefix; a secret of another form is the key itself.
func keyOf(secret string) []byte {
	if encoded, ok := strings.CutPrefix(secret, "whsec_"); ok {
		if key, err := base64.StdEncoding.DecodeString(encoded); err == nil {
			return key
		}
	}
	return []byte(secret)
}
