package secrets

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
)

// partitions are the parts of AWS that have domains of their own, by how their
// regions begin. The last one is for all others.
var partitions = []struct{ regions, domain, dualStack string }{
	{"cn-", "amazonaws.com.cn", "api.amazonwebservices.com.cn"},
	{"eusc-", "amazonaws.eu", "api.amazonwebservices.eu"},
	{"us-iso-", "c2s.ic.gov", "api.aws.ic.gov"},
	{"us-isob-", "sc2s.sgov.gov", "api.aws.scloud"},
	{"eu-isoe-", "cloud.adc-e.uk", "api.cloud-aws.adc-e.uk"},
	{"us-isof-", "csp.hci.ic.gov", "api.aws.hci.ic.gov"},
	{"", "amazonaws.com", "api.aws"},
}

// What the SDK's sources of configuration may know about endpoints.
type (
	endpointSource interface {
		GetServiceBaseEndpoint(ctx context.Context, id string) (string, bool, error)
	}
	ignoreSource interface {
		GetIgnoreConfiguredEndpoints(ctx context.Context) (bool, bool, error)
	}
	fipsSource interface {
		GetUseFIPSEndpoint(ctx context.Context) (aws.FIPSEndpointState, bool, error)
	}
	dualStackSource interface {
		GetUseDualStackEndpoint(ctx context.Context) (aws.DualStackEndpointState, bool, error)
	}
)

// endpoint returns the URL at which the service is in the region of the
// configuration.
func (s service) endpoint(ctx context.Context, c aws.Config) (string, error) {
	fips := ask(c, func(f fipsSource) (aws.FIPSEndpointState, bool, error) { return f.GetUseFIPSEndpoint(ctx) }) == aws.FIPSEndpointStateEnabled
	dual := ask(c, func(d dualStackSource) (aws.DualStackEndpointState, bool, error) {
		return d.GetUseDualStackEndpoint(ctx)
	}) == aws.DualStackEndpointStateEnabled
	if configured := s.configured(ctx, c); configured != "" {
		if fips || dual {
			return "", errors.New("an endpoint is configured, which goes neither with FIPS nor with dual stack")
		}
		return configured, nil
	}
	if strings.Trim(c.Region, "abcdefghijklmnopqrstuvwxyz0123456789-") != "" {
		return "", fmt.Errorf("%q is no AWS region", c.Region)
	}
	return "https://" + s.host(c.Region, fips, dual), nil
}

func (s service) host(region string, fips, dual bool) string {
	name := s.name
	// Parameter Store is always that of FIPS where governments have their regions.
	if fips && (dual || s != parameterStore || !strings.HasPrefix(region, "us-gov-")) {
		name += "-fips"
	}
	i := 0
	for !strings.HasPrefix(region, partitions[i].regions) {
		i++
	}
	if dual {
		return name + "." + region + "." + partitions[i].dualStack
	}
	return name + "." + region + "." + partitions[i].domain
}

// configured returns the URL that the operator has given instead, or "".
func (s service) configured(ctx context.Context, c aws.Config) string {
	_, forAll := os.LookupEnv("AWS_ENDPOINT_URL")
	_, forThis := os.LookupEnv(endpointVariable(s.id))
	ignored := ask(c, func(i ignoreSource) (bool, bool, error) { return i.GetIgnoreConfiguredEndpoints(ctx) })
	if !ignored && (forThis || !forAll) { // the environment goes before a file
		own := ask(c, func(e endpointSource) (string, bool, error) { return e.GetServiceBaseEndpoint(ctx, s.id) })
		if own != "" {
			return own
		}
	}
	return aws.ToString(c.BaseEndpoint)
}

// ask returns what the first source says that knows it.
func ask[S, T any](c aws.Config, question func(S) (T, bool, error)) (answer T) {
	for _, source := range c.ConfigSources {
		if s, ok := source.(S); ok {
			if value, found, err := question(s); err == nil && found {
				return value
			}
		}
	}
	return answer
}

// environment is what the SDK's sources of configuration are, as far as
// [Environment] goes.
type environment struct{}

func (environment) GetServiceBaseEndpoint(_ context.Context, id string) (string, bool, error) {
	endpoint := os.Getenv(endpointVariable(id))
	return endpoint, endpoint != "", nil
}

func endpointVariable(id string) string {
	return "AWS_ENDPOINT_URL_" + strings.ReplaceAll(strings.ToUpper(id), " ", "_")
}
