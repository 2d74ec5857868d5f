package secrets

import (
	"context"
	"fmt"
	"net"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/feature/rds/auth"
)

// DatabaseToken returns a password for the user of an RDS database with IAM
// authentication at the address, host:port. New connections can be made with it for 15
// minutes. It makes no requests, except to get credentials. The region is taken from an
// RDS host name, or else from the environment.
func (a *AWS) DatabaseToken(ctx context.Context, address, user string) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, fetchTimeout)
	defer cancel()
	c, err := a.databaseConfig(ctx, address)
	if err != nil {
		return "", fmt.Errorf("cannot create an RDS token for %s: %w", address, err)
	}
	token, err := auth.BuildAuthToken(ctx, address, c.Region, user, c.Credentials)
	if err != nil {
		return "", fmt.Errorf("cannot create an RDS token for %s: %w", address, explain(err))
	}
	return token, nil
}

func (a *AWS) databaseConfig(ctx context.Context, address string) (aws.Config, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	region := regionOf(address)
	c, err := a.load(ctx, "")
	if err != nil && (a.config == nil || region == "") {
		return c, err
	}
	if region != "" {
		c = a.config.Copy()
		c.Region = region
	}
	return c, nil
}

// regionOf returns the region in an RDS host name, such as
// name.id.eu-central-1.rds.amazonaws.com, or "".
func regionOf(address string) string {
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		return ""
	}
	front, found := strings.CutSuffix(strings.TrimSuffix(host, ".cn"), ".rds.amazonaws.com")
	if !found {
		return ""
	}
	return front[strings.LastIndexByte(front, '.')+1:]
}
