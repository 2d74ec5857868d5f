package secrets

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
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

// maxResponse is the maximum size of a response, in bytes. Secrets have at most 64 KiB,
// and up to six times that in JSON.
const maxResponse = 1 << 20

// service is an AWS service with a JSON API. The SDK's own clients implement the entire
// API, which would add megabytes to the program.
type service struct {
	name   string // in hosts and signatures
	target string // in the X-Amz-Target header
}

var (
	secretsManager = service{"secretsmanager", "secretsmanager"}
	parameterStore = service{"ssm", "AmazonSSM"}
)

// plain is the client for configurations without one. It does not follow redirects,
// because a request is signed for one host.
var plain = &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}

// statusError is an error response, in the form that the SDK's retry rules expect.
type statusError struct {
	smithy.GenericAPIError
	status int
}

func (e *statusError) HTTPStatusCode() int { return e.status }

// call sends the request, with retries, and decodes the response. An error response is
// returned as a [smithy.APIError].
func (s service) call(ctx context.Context, c aws.Config, operation string, request, response any) error {
	body, err := json.Marshal(request)
	if err != nil {
		return err
	}
	endpoint, err := s.endpoint(c)
	if err != nil {
		return err
	}
	retries := retryer(c)
	for attempt := 1; ; attempt++ {
		text, err := s.post(ctx, c, endpoint, operation, body)
		if err == nil {
			if json.Unmarshal(text, response) != nil {
				return errors.New("cannot parse the AWS response") // without the cause, which might quote it
			}
			return nil
		}
		most := retries.MaxAttempts()
		if !retries.IsErrorRetryable(err) || most > 0 && attempt >= most {
			return err
		}
		delay, _ := retries.RetryDelay(attempt, err)
		if clock.Sleep(ctx, delay) != nil {
			return err
		}
	}
}

// endpoint returns the URL of the service: that of AWS_ENDPOINT_URL, or else the one in the region.
func (s service) endpoint(c aws.Config) (string, error) {
	if configured := aws.ToString(c.BaseEndpoint); configured != "" {
		return configured, nil
	}
	if strings.Trim(c.Region, "abcdefghijklmnopqrstuvwxyz0123456789-") != "" {
		return "", fmt.Errorf("invalid AWS region %q", c.Region)
	}
	domain := "amazonaws.com"
	if strings.HasPrefix(c.Region, "cn-") {
		domain += ".cn"
	}
	return "https://" + s.name + "." + c.Region + "." + domain, nil
}

func retryer(c aws.Config) aws.Retryer {
	if c.Retryer != nil {
		return c.Retryer()
	}
	return retry.NewStandard()
}

// post sends the request once.
func (s service) post(ctx context.Context, c aws.Config, endpoint, operation string, body []byte) ([]byte, error) {
	r, err := s.request(ctx, c, endpoint, operation, body)
	if err != nil {
		return nil, err
	}
	client := c.HTTPClient
	if client == nil {
		client = plain
	}
	response, err := client.Do(r)
	if err != nil {
		return nil, err
	}
	defer func() { _ = response.Body.Close() }()
	text, err := io.ReadAll(io.LimitReader(response.Body, maxResponse+1))
	if err != nil {
		return nil, err
	}
	if len(text) > maxResponse {
		return nil, errors.New("the AWS response is too large")
	}
	if response.StatusCode != http.StatusOK {
		return nil, errorOf(response, text)
	}
	return text, nil
}

// request returns a signed request.
func (s service) request(ctx context.Context, c aws.Config, endpoint, operation string, body []byte) (*http.Request, error) {
	credentials, err := c.Credentials.Retrieve(ctx)
	if err != nil {
		return nil, err
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, endpoint, bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	r.URL.Path = cmp.Or(r.URL.Path, "/")
	r.Header.Set("Content-Type", "application/x-amz-json-1.1")
	r.Header.Set("X-Amz-Target", s.target+"."+operation)
	hash := sha256.Sum256(body)
	err = v4.NewSigner().SignHTTP(ctx, credentials, r, hex.EncodeToString(hash[:]), s.name, c.Region, time.Now())
	return r, err
}

func errorOf(response *http.Response, text []byte) error {
	var body struct {
		Type    string `json:"__type"`
		Code    string
		Message string
	}
	_ = json.Unmarshal(text, &body) // a proxy may respond with anything
	code := cmp.Or(response.Header.Get("X-Amzn-ErrorType"), body.Type, body.Code, response.Status)
	code, _, _ = strings.Cut(code[strings.LastIndexByte(code, '#')+1:], ":") // namespace#code:address
	return &statusError{smithy.GenericAPIError{Code: code, Message: body.Message}, response.StatusCode}
}
