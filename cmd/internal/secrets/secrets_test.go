package secrets_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/config"
	"github.com/google/go-cmp/cmp"

	"github.com/guidonhq/guidon/cmd/internal/secrets"
)

// fakeAWS is a fake of Secrets Manager and Parameter Store. The environment makes the SDK
// use it.
type fakeAWS struct {
	secrets, parameters map[string]string

	mu      sync.Mutex
	regions []string // of the requests
}

// requested returns the regions of the requests so far.
func (f *fakeAWS) requested() []string {
	f.mu.Lock()
	defer f.mu.Unlock()
	return slices.Clone(f.regions)
}

func startAWS(t *testing.T) *fakeAWS {
	t.Helper()
	f := &fakeAWS{
		secrets: map[string]string{
			"guidon/db": `{"url":"postgres://u:hunter2@db/guidon","port":5432}`,
			"plain":     "hunter2",
			"empty":     "",
			"arn:aws:secretsmanager:eu-north-1:123456789012:secret:far-AbCdEf": "from afar",
		},
		parameters: map[string]string{"/guidon/token": "hunter2"},
	}
	s := httptest.NewServer(f)
	t.Cleanup(s.Close)
	for name, value := range map[string]string{
		"AWS_ENDPOINT_URL": s.URL, "AWS_REGION": "eu-central-1", "AWS_ACCESS_KEY_ID": "AKIDEXAMPLE", "AWS_SECRET_ACCESS_KEY": "key",
		"AWS_EC2_METADATA_DISABLED": "true", "AWS_CONFIG_FILE": "/dev/null", "AWS_SHARED_CREDENTIALS_FILE": "/dev/null",
		"AWS_PROFILE": "", "AWS_SESSION_TOKEN": "",
	} {
		t.Setenv(name, value)
	}
	return f
}

func (f *fakeAWS) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	f.mu.Lock()
	// Credential=AKIDEXAMPLE/20260101/region/service/aws4_request
	f.regions = append(f.regions, strings.Split(r.Header.Get("Authorization"), "/")[2])
	f.mu.Unlock()
	var request struct {
		SecretId, Name string
		WithDecryption bool
	}
	_ = json.NewDecoder(r.Body).Decode(&request)
	w.Header().Set("Content-Type", "application/x-amz-json-1.1")
	refuse := func(code string) {
		w.WriteHeader(http.StatusBadRequest)
		fmt.Fprintf(w, `{"__type":%q,"message":"not found"}`, code)
	}
	switch r.Header.Get("X-Amz-Target") {
	case "secretsmanager.GetSecretValue":
		value, ok := f.secrets[request.SecretId]
		if !ok {
			refuse("ResourceNotFoundException")
			return
		}
		_ = json.NewEncoder(w).Encode(map[string]any{"SecretString": value})
	case "AmazonSSM.GetParameter":
		value, ok := f.parameters[request.Name]
		if !ok || !request.WithDecryption {
			refuse("ParameterNotFound")
			return
		}
		_ = json.NewEncoder(w).Encode(map[string]any{"Parameter": map[string]any{"Value": value}})
	default:
		refuse("UnknownOperationException")
	}
}

// anywhere searches for credentials as the SDK does, and as servers use it.
func anywhere(ctx context.Context) (aws.Config, error) { return config.LoadDefaultConfig(ctx) }

func TestFetch(t *testing.T) {
	t.Run("with the environment's credentials", func(t *testing.T) { testFetch(t, &secrets.AWS{}) })
	t.Run("with credentials from anywhere", func(t *testing.T) { testFetch(t, &secrets.AWS{Load: anywhere}) })
}

func testFetch(t *testing.T, a *secrets.AWS) {
	f := startAWS(t)
	for _, c := range []struct{ reference, want, wantErr string }{
		{"aws-sm://guidon/db#url", "postgres://u:hunter2@db/guidon", ""},
		{"aws-sm://plain", "hunter2", ""},
		{"aws-sm://arn:aws:secretsmanager:eu-north-1:123456789012:secret:far-AbCdEf", "from afar", ""},
		{"aws-ssm:///guidon/token", "hunter2", ""},
		{"aws-sm://guidon/db#password", "", `aws-sm://guidon/db#password: the secret has no key "password"`},
		{"aws-sm://guidon/db#port", "", `aws-sm://guidon/db#port: the key "port" of the secret is not a string`},
		{"aws-sm://plain#key", "", "aws-sm://plain#key: the secret is not a JSON object and has no keys"},
		{"aws-sm://empty", "", "aws-sm://empty: the value is empty"},
		{"aws-sm://nope", "", "aws-sm://nope: AWS returned ResourceNotFoundException: not found"},
		{"aws-ssm://nope", "", "aws-ssm://nope: AWS returned ParameterNotFound: not found"},
	} {
		got, err := a.Fetch(t.Context(), c.reference)
		text := ""
		if err != nil {
			text = err.Error()
		}
		if got != c.want || text != c.wantErr {
			t.Errorf("%s: got %q, %q, want %q, %q", c.reference, got, text, c.want, c.wantErr)
		}
		if strings.Contains(text, "hunter2") {
			t.Errorf("the error for %s contains the secret: %s", c.reference, text)
		}
	}
	const here, afar = "eu-central-1", "eu-north-1"
	if diff := cmp.Diff([]string{here, here, afar, here, here, here, here}, f.requested()); diff != "" {
		t.Errorf("want each secret requested once, in its region (-want +got):\n%s", diff)
	}
}

func TestFetchWithoutRegion(t *testing.T) {
	startAWS(t)
	t.Setenv("AWS_REGION", "")
	var a secrets.AWS
	if _, err := a.Fetch(t.Context(), "aws-sm://plain"); err == nil || !strings.Contains(err.Error(), "set AWS_REGION") {
		t.Errorf("got %v, want an error with the variable to set", err)
	}
}

func TestFetchWithoutCredentials(t *testing.T) {
	startAWS(t)
	t.Setenv("AWS_SECRET_ACCESS_KEY", "")
	var a secrets.AWS
	if _, err := a.Fetch(t.Context(), "aws-sm://plain"); err == nil || !strings.Contains(err.Error(), "no AWS credentials") {
		t.Errorf("got %v, want an error about missing credentials", err)
	}
}

// A token is a signed request without its scheme, which is never sent.
func TestDatabaseToken(t *testing.T) {
	f := startAWS(t)
	for _, c := range []struct{ address, region string }{
		{"flags.abc.us-west-2.rds.amazonaws.com:5432", "us-west-2"},
		{"flags.abc.cn-north-1.rds.amazonaws.com.cn:5432", "cn-north-1"},
		{"db.example:3306", "eu-central-1"},
	} {
		var a secrets.AWS
		token, err := a.DatabaseToken(t.Context(), c.address, "guidon")
		if err != nil {
			t.Fatal(err)
		}
		u, err := url.Parse("https://" + token)
		if err != nil {
			t.Fatal(err)
		}
		q := u.Query()
		if u.Host != c.address || q.Get("DBUser") != "guidon" || q.Get("Action") != "connect" || q.Get("X-Amz-Expires") != "900" ||
			!strings.Contains(q.Get("X-Amz-Credential"), "/"+c.region+"/rds-db/") {
			t.Errorf("%s: got token %s, want one of the region %s", c.address, token, c.region)
		}
	}
	if got := f.requested(); len(got) != 0 {
		t.Errorf("got requests in %v, want none", got)
	}
}
