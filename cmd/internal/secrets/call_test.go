package secrets_test

import (
	"context"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/google/go-cmp/cmp"

	"github.com/guidonhq/guidon/cmd/internal/secrets"
	"github.com/guidonhq/guidon/internal/bubble"
)

// script is an HTTP client that returns the given responses in order.
type script struct {
	responses []string // the status, a space and the body
	hosts     []string // of the requests
	bodies    []string
}

func (s *script) Do(r *http.Request) (*http.Response, error) {
	body, _ := io.ReadAll(r.Body)
	s.hosts, s.bodies = append(s.hosts, r.URL.Host), append(s.bodies, string(body))
	status, text, _ := strings.Cut(s.responses[0], " ")
	s.responses = s.responses[1:]
	code := map[string]int{"200": 200, "307": 307, "400": 400, "503": 503}[status]
	return &http.Response{Status: status, StatusCode: code, Header: http.Header{}, Body: io.NopCloser(strings.NewReader(text)), Request: r}, nil
}

// newAWS returns an AWS that uses the client and the environment.
func newAWS(client aws.HTTPClient) *secrets.AWS {
	return &secrets.AWS{Load: func(ctx context.Context) (aws.Config, error) {
		c, err := secrets.Environment(ctx)
		c.HTTPClient = client
		return c, err
	}}
}

// TestEndpoint: the endpoints are those of the SDK's own clients.
func TestEndpoint(t *testing.T) {
	const manager, parameter = "aws-sm://x", "aws-ssm://x"
	for _, c := range []struct{ reference, region, endpoint, want string }{ // a host, or a part of the error
		{manager, "eu-central-1", "", "secretsmanager.eu-central-1.amazonaws.com"},
		{parameter, "eu-central-1", "", "ssm.eu-central-1.amazonaws.com"},
		{"aws-sm://arn:aws-cn:secretsmanager:cn-north-1:123456789012:secret:x-AbCdEf", "eu-central-1", "", "secretsmanager.cn-north-1.amazonaws.com.cn"},
		{parameter, "us-gov-west-1", "", "ssm.us-gov-west-1.amazonaws.com"},
		{manager, "us-east-1", "https://all", "all"},
		{parameter, "us-east-1", "https://all", "all"},
		{manager, "evil.example/", "", `invalid AWS region "evil.example/"`},
	} {
		t.Run(c.want, func(t *testing.T) {
			startAWS(t)
			t.Setenv("AWS_REGION", c.region)
			t.Setenv("AWS_ENDPOINT_URL", c.endpoint)
			client := &script{responses: []string{`200 {"SecretString":"x","Parameter":{"Value":"x"}}`}}
			if _, err := newAWS(client).Fetch(t.Context(), c.reference); err != nil {
				if !strings.Contains(err.Error(), c.want) {
					t.Errorf("got %v, want %s", err, c.want)
				}
				return
			}
			if diff := cmp.Diff([]string{c.want}, client.hosts); diff != "" {
				t.Errorf("hosts (-want +got):\n%s", diff)
			}
		})
	}
}

// TestResponses checks the result and the retries for responses of AWS.
func TestResponses(t *testing.T) {
	const throttled = `400 {"__type":"com.amazonaws#ThrottlingException","Message":"slowly"}`
	for name, c := range map[string]struct {
		responses []string
		want      string
		wantErr   string
		wantLeft  int
	}{
		"a secret of bytes":          {[]string{`200 {"SecretBinary":"aHVudGVyMg=="}`}, "hunter2", "", 0},
		"busy at first":              {[]string{"503 ", throttled, `200 {"SecretString":"hunter2"}`}, "hunter2", "", 0},
		"busy":                       {[]string{throttled, throttled, throttled, throttled}, "", "AWS returned ThrottlingException: slowly", 1},
		"refused":                    {[]string{`400 {"__type":"AccessDeniedException","message":"no"}`, "503 "}, "", "AWS returned AccessDeniedException: no", 1},
		"something that is not JSON": {[]string{"200 hunter2", ""}, "", "cannot parse the AWS response", 1},
		"a value of another type":    {[]string{`200 {"SecretString":1234}`, ""}, "", "cannot parse the AWS response", 1},
		"too large":                  {[]string{"200 " + strings.Repeat(" ", 2<<20), ""}, "", "the AWS response is too large", 1},
		"a redirect":                 {[]string{"307 ", ""}, "", "AWS returned 307: ", 1},
	} {
		t.Run(name, func(t *testing.T) {
			startAWS(t)
			client := &script{responses: c.responses}
			var got, text string
			bubble.Test(t, func(t *testing.T) { // skips the pauses
				value, err := newAWS(client).Fetch(t.Context(), "aws-sm://x")
				if got = value; err != nil {
					text = strings.TrimPrefix(err.Error(), "aws-sm://x: ")
				}
			})
			if got != c.want || text != c.wantErr || len(client.responses) != c.wantLeft {
				t.Errorf("got %q, %q with %d responses left, want %q, %q, %d", got, text, len(client.responses), c.want, c.wantErr, c.wantLeft)
			}
			for _, body := range client.bodies {
				if body != `{"SecretId":"x"}` {
					t.Errorf("got request %s", body)
				}
			}
		})
	}
}
