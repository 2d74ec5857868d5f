package secrets

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
)

// partitions are the AWS partitions with their domains, by the prefix of their regions.
// The last one is for all other regions.
var partitions = []struct{ regions, domain, dualStack string }{
	{"cn-", "amazonaws.com.cn", "api.amazonwebservices.com.cn"},
	{"eusc-", "amazonaws.eu", "api.amazonwebservices.eu"},
	{"us-iso-", "c2s.ic.gov", "api.aws.ic.gov"},
	{"us-isob-", "sc2s.sgov.gov", "api.aws.scloud"},
	{"eu-isoe-", "cloud.adc-e.uk", "api.cloud-aws.adc-e.uk"},
	{"us-isof-", "csp.hci.ic.gov", "api.aws.hci.ic.gov"},
	{"", "amazonaws.com", "api.aws"},
}

// Optional interfaces of the SDK's configuration sources.
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

// endpoint returns the URL of the service in the configured region.
func (s service) endpoint(ctx context.Context, c aws.Config) (string, error) {
	fips := lookup(c, func(f fipsSource) (aws.FIPSEndpointState, bool, error) { return f.GetUseFIPSEndpoint(ctx) }) == aws.FIPSEndpointStateEnabled
	dual := lookup(c, func(d dualStackSource) (aws.DualStackEndpointState, bool, error) {
		return d.GetUseDualStackEndpoint(ctx)
	}) == aws.DualStackEndpointStateEnabled
	if configured := s.configured(ctx, c); configured != "" {
		if fips || dual {
			return "", errors.New("a custom endpoint cannot be combined with FIPS or dual-stack endpoints")
		}
		return configured, nil
	}
	if strings.Trim(c.Region, "abcdefghijklmnopqrstuvwxyz0123456789-") != "" {
		return "", fmt.Errorf("invalid AWS region %q", c.Region)
	}
	return "https://" + s.host(c.Region, fips, dual), nil
}

func (s service) host(region string, fips, dual bool) string {
	name := s.name
	// In the US government regions, the regular endpoint of Parameter Store is FIPS.
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

// configured returns the custom endpoint set by the operator, or "".
func (s service) configured(ctx context.Context, c aws.Config) string {
	_, forAll := os.LookupEnv("AWS_ENDPOINT_URL")
	_, forThis := os.LookupEnv(endpointVariable(s.id))
	ignored := lookup(c, func(i ignoreSource) (bool, bool, error) { return i.GetIgnoreConfiguredEndpoints(ctx) })
	if !ignored && (forThis || !forAll) { // the environment overrides the files
		own := lookup(c, func(e endpointSource) (string, bool, error) { return e.GetServiceBaseEndpoint(ctx, s.id) })
		if own != "" {
			return own
		}
	}
	return aws.ToString(c.BaseEndpoint)
}

// lookup returns the value of the first configuration source that has one, or the zero
// value.
func lookup[S, T any](c aws.Config, get func(S) (T, bool, error)) (zero T) {
	for _, source := range c.ConfigSources {
		if s, ok := source.(S); ok {
			if value, found, err := get(s); err == nil && found {
				return value
			}
		}
	}
	return zero
}

// environment is the SDK configuration source of [Environment].
type environment struct{}

func (environment) GetServiceBaseEndpoint(_ context.Context, id string) (string, bool, error) {
	endpoint := os.Getenv(endpointVariable(id))
	return endpoint, endpoint != "", nil
}

func endpointVariable(id string) string {
	return "AWS_ENDPOINT_URL_" + strings.ReplaceAll(strings.ToUpper(id), " ", "_")
}
