// Package secrets fetches values from AWS to which the configuration refers, and creates
// short-lived passwords for RDS databases.
package secrets

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/aws/arn"
	"github.com/aws/smithy-go"
)

// Schemes of references.
const (
	managerScheme   = "aws-sm://"
	parameterScheme = "aws-ssm://"
)

// fetchTimeout is the timeout for one reference, including retries.
const fetchTimeout = 10 * time.Second

// Knows reports whether the string is a reference to a value in AWS.
func (a *AWS) Knows(text string) bool {
	return strings.HasPrefix(text, managerScheme) || strings.HasPrefix(text, parameterScheme)
}

// AWS fetches values from AWS. It does nothing before the first use, and is safe for
// concurrent use.
type AWS struct {
	// Load returns the credentials and the region; nil means [Environment]. It is
	// not called again after it has succeeded.
	Load func(ctx context.Context) (aws.Config, error)

	mu      sync.Mutex
	config  *aws.Config
	secrets map[string]string // entire secrets by name
}

// Fetch returns the value of the reference:
//
//   - aws-sm://name#key is a member of the JSON object in a Secrets Manager secret, and
//     aws-sm://name is the entire secret;
//   - aws-ssm://name is a decrypted parameter of Systems Manager's Parameter Store.
//
// A name can be an ARN, which then determines the region. A secret is fetched only once,
// even for several keys. The error contains the reference, but never a value.
func (a *AWS) Fetch(ctx context.Context, reference string) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, fetchTimeout)
	defer cancel()
	value, err := a.fetch(ctx, reference)
	if err == nil && value == "" {
		err = errors.New("the value is empty")
	}
	if err != nil {
		return "", fmt.Errorf("%s: %w", reference, explain(err))
	}
	return value, nil
}

func (a *AWS) fetch(ctx context.Context, reference string) (string, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if name, ok := strings.CutPrefix(reference, parameterScheme); ok {
		return a.parameter(ctx, name)
	}
	name, ok := strings.CutPrefix(reference, managerScheme)
	if !ok {
		return "", errors.New("not a reference")
	}
	name, key, wantsKey := strings.Cut(name, "#")
	secret, err := a.secret(ctx, name)
	if err != nil || !wantsKey {
		return secret, err
	}
	return member(secret, key)
}

func (a *AWS) parameter(ctx context.Context, name string) (string, error) {
	c, err := a.load(ctx, name)
	if err != nil {
		return "", err
	}
	request := struct {
		Name           string
		WithDecryption bool
	}{name, true}
	var response struct{ Parameter struct{ Value string } }
	err = parameterStore.call(ctx, c, "GetParameter", request, &response)
	return response.Parameter.Value, err
}

func (a *AWS) secret(ctx context.Context, name string) (string, error) {
	if secret, ok := a.secrets[name]; ok {
		return secret, nil
	}
	c, err := a.load(ctx, name)
	if err != nil {
		return "", err
	}
	var response struct {
		SecretString *string
		SecretBinary []byte
	}
	if err := secretsManager.call(ctx, c, "GetSecretValue", struct{ SecretId string }{name}, &response); err != nil {
		return "", err
	}
	secret := aws.ToString(response.SecretString)
	if response.SecretString == nil {
		secret = string(response.SecretBinary)
	}
	if a.secrets == nil {
		a.secrets = map[string]string{}
	}
	a.secrets[name] = secret
	return secret, nil
}

// member returns the string member of a JSON object.
func member(secret, key string) (string, error) {
	var object map[string]any
	if err := json.Unmarshal([]byte(secret), &object); err != nil {
		return "", errors.New("the secret is not a JSON object and has no keys") // without the cause, which might quote it
	}
	switch value := object[key].(type) {
	case string:
		return value, nil
	case nil:
		return "", fmt.Errorf("the secret has no key %q", key)
	default:
		return "", fmt.Errorf("the key %q of the secret is not a string", key)
	}
}

// load returns the configuration for the region of the name. a.mu must be held.
func (a *AWS) load(ctx context.Context, name string) (aws.Config, error) {
	if a.config == nil {
		load := a.Load
		if load == nil {
			load = Environment
		}
		c, err := load(ctx)
		if err != nil {
			return aws.Config{}, err
		}
		a.config = &c
	}
	c := a.config.Copy()
	if parsed, err := arn.Parse(name); err == nil {
		c.Region = parsed.Region
	}
	if c.Region == "" {
		return aws.Config{}, errors.New("unknown AWS region: set AWS_REGION")
	}
	return c, nil
}

// Environment returns the credentials and the region in the environment, where AWS Lambda
// sets those of the function. It avoids the SDK's support for other sources, which would
// only make the program larger.
func Environment(context.Context) (aws.Config, error) {
	credentials := aws.Credentials{
		AccessKeyID: os.Getenv("AWS_ACCESS_KEY_ID"), SecretAccessKey: os.Getenv("AWS_SECRET_ACCESS_KEY"),
		SessionToken: os.Getenv("AWS_SESSION_TOKEN"), Source: "environment",
	}
	if !credentials.HasKeys() {
		return aws.Config{}, errors.New("no AWS credentials in the environment")
	}
	c := aws.Config{
		Region:      cmp.Or(os.Getenv("AWS_REGION"), os.Getenv("AWS_DEFAULT_REGION")),
		Credentials: aws.CredentialsProviderFunc(func(context.Context) (aws.Credentials, error) { return credentials, nil }),
	}
	if endpoint := os.Getenv("AWS_ENDPOINT_URL"); endpoint != "" {
		c.BaseEndpoint = &endpoint
	}
	return c, nil
}

// explain reduces an SDK error to its code and message, which are useful to operators.
func explain(err error) error {
	if e, ok := errors.AsType[smithy.APIError](err); ok {
		return fmt.Errorf("AWS returned %s: %s", e.ErrorCode(), e.ErrorMessage())
	}
	return err
}
