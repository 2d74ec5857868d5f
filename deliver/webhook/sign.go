package webhook

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"net/http"
	"strconv"
	"strings"
	"time"
)

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
