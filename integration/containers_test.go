package integration

import (
	"context"
	"fmt"
	"net"
	"net/url"

	"github.com/moby/moby/api/types/network"
	"github.com/testcontainers/testcontainers-go"
	"github.com/testcontainers/testcontainers-go/modules/mariadb"
	"github.com/testcontainers/testcontainers-go/modules/mysql"
	"github.com/testcontainers/testcontainers-go/modules/postgres"
	"github.com/testcontainers/testcontainers-go/wait"
)

// Images of the containers, from the public registry or built under the same names by
// infra/containers/engine.sh.
const (
	postgresImage = "postgres:17"
	mariadbImage  = "mariadb:11.8"
	mysqlImage    = "mysql:9"
	redisImage    = "redis:8"
	valkeyImage   = "valkey:8"

	containerPassword = "not-a-secret"
)

func postgresContainer(ctx context.Context) (string, func() error, error) {
	c, err := guarded(func() (testcontainers.Container, error) {
		return postgres.Run(ctx, postgresImage, postgres.WithUsername("postgres"), postgres.WithPassword(containerPassword),
			postgres.BasicWaitStrategies())
	})
	return reachable(ctx, c, err, "5432/tcp", func(address string) string {
		return "postgres://postgres:" + containerPassword + "@" + address + "/postgres?sslmode=disable"
	})
}

func mariadbContainer(ctx context.Context) (string, func() error, error) {
	c, err := guarded(func() (testcontainers.Container, error) {
		return mariadb.Run(ctx, mariadbImage, mariadb.WithUsername("root"), mariadb.WithPassword(containerPassword), mysqlReady())
	})
	return reachable(ctx, c, err, "3306/tcp", mysqlURL)
}

func mysqlContainer(ctx context.Context) (string, func() error, error) {
	c, err := guarded(func() (testcontainers.Container, error) {
		return mysql.Run(ctx, mysqlImage, mysql.WithUsername("root"), mysql.WithPassword(containerPassword), mysqlReady())
	})
	return reachable(ctx, c, err, "3306/tcp", mysqlURL)
}

func mysqlURL(address string) string {
	return "mysql://root:" + containerPassword + "@" + address + "/"
}

// mysqlReady polls the server until it is ready. The log lines that the modules wait for
// differ between builds.
func mysqlReady() testcontainers.CustomizeRequestOption {
	return testcontainers.WithWaitStrategy(wait.ForSQL("3306/tcp", "mysql", func(host string, port network.Port) string {
		return "root:" + containerPassword + "@tcp(" + net.JoinHostPort(host, port.Port()) + ")/"
	}).WithStartupTimeout(patience))
}

// guarded converts the panic if Docker is missing to an error.
func guarded(run func() (testcontainers.Container, error)) (c testcontainers.Container, err error) {
	defer func() {
		if v := recover(); v != nil {
			err = fmt.Errorf("docker: %v", v)
		}
	}()
	return run()
}

// reachable returns the URL of the container on this machine, and the function that
// terminates it.
func reachable(ctx context.Context, c testcontainers.Container, err error, port string, databaseURL func(address string) string) (string, func() error, error) {
	end := func() error { return testcontainers.TerminateContainer(c) }
	if err == nil {
		var endpoint string
		endpoint, err = c.PortEndpoint(ctx, port, "tcp")
		if u, failed := url.Parse(endpoint); err == nil && failed == nil {
			return databaseURL(u.Host), end, nil
		}
	}
	_ = end() // it may have been started partly
	return "", nil, fmt.Errorf("container: %w", err)
}
