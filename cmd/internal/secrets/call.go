package secrets

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/aws/retry"
	v4 "github.com/aws/aws-sdk-go-v2/aws/signer/v4"
	"github.com/aws/smithy-go"

	"github.com/guidonhq/guidon/internal/clock"
)

// maxAnswer bounds what is read of an answer, in bytes. Secrets have 64 KiB at
// most, and in JSON six times that.
const maxAnswer = 1 << 20

// service is one that takes JSON and answers with it. The SDK's own clients know
// all that can be asked of it, which is megabytes of a program.
type service struct {
	name   string // in hosts and signatures
	id     string // in the SDK's configuration
	target string // in the header that says what is asked
}

var (
	secretsManager = service{"secretsmanager", "Secrets Manager", "secretsmanager"}
	parameterStore = service{"ssm", "SSM", "AmazonSSM"}
)

// plain is for configurations without a client. What is signed for one host is
// for no other.
var plain = &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}

// refusal is an answer that is an error, which the SDK's rules for repeating a
// request look at.
type refusal struct {
	smithy.GenericAPIError
	status int
}

func (r *refusal) HTTPStatusCode() int { return r.status }

// call asks, again where that may help, and decodes the answer. It returns a
// [smithy.APIError] where the service refuses.
func (s service) call(ctx context.Context, c aws.Config, operation string, request, answer any) error {
	body, err := json.Marshal(request)
	if err != nil {
		return err
	}
	endpoint, err := s.endpoint(ctx, c)
	if err != nil {
		return err
	}
	again := retryer(c)
	for attempt := 1; ; attempt++ {
		text, err := s.post(ctx, c, endpoint, operation, body)
		if err == nil {
			if json.Unmarshal(text, answer) != nil {
				return errors.New("AWS answers what is not understood") // the cause might quote it
			}
			return nil
		}
		most := again.MaxAttempts()
		if !again.IsErrorRetryable(err) || most > 0 && attempt >= most {
			return err
		}
		delay, _ := again.RetryDelay(attempt, err)
		if clock.Sleep(ctx, delay) != nil {
			return err
		}
	}
}

func retryer(c aws.Config) aws.Retryer {
	if c.Retryer != nil {
		return c.Retryer()
	}
	return retry.NewStandard()
}

// post asks once.
func (s service) post(ctx context.Context, c aws.Config, endpoint, operation string, body []byte) ([]byte, error) {
	r, err := s.request(ctx, c, endpoint, operation, body)
	if err != nil {
		return nil, err
	}
	client := c.HTTPClient
	if client == nil {
		client = plain
	}
	answer, err := client.Do(r)
	if err != nil {
		return nil, err
	}
	defer func() { _ = answer.Body.Close() }()
	text, err := io.ReadAll(io.LimitReader(answer.Body, maxAnswer+1))
	if err != nil {
		return nil, err
	}
	if len(text) > maxAnswer {
		return nil, errors.New("the answer of AWS is too long")
	}
	if answer.StatusCode != http.StatusOK {
		return nil, refused(answer, text)
	}
	return text, nil
}

// request returns one that is signed.
func (s service) request(ctx context.Context, c aws.Config, endpoint, operation string, body []byte) (*http.Request, error) {
	credentials, err := c.Credentials.Retrieve(ctx)
	if err != nil {
		return nil, err
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, endpoint, bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	if r.URL.Path == "" {
		r.URL.Path = "/"
	}
	r.Header.Set("Content-Type", "application/x-amz-json-1.1")
	r.Header.Set("X-Amz-Target", s.target+"."+operation)
	hash := sha256.Sum256(body)
	err = v4.NewSigner().SignHTTP(ctx, credentials, r, hex.EncodeToString(hash[:]), s.name, c.Region, time.Now())
	return r, err
}

func refused(answer *http.Response, text []byte) error {
	var body struct {
		Type    string `json:"__type"`
		Code    string
		Message string
	}
	_ = json.Unmarshal(text, &body) // what stands in between may answer with anything
	code := cmp.Or(answer.Header.Get("X-Amzn-ErrorType"), body.Type, body.Code, answer.Status)
	code, _, _ = strings.Cut(code[strings.LastIndexByte(code, '#')+1:], ":") // namespace#code:address
	return &refusal{smithy.GenericAPIError{Code: code, Message: body.Message}, answer.StatusCode}
}
