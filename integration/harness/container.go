package harness

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

	containerPassword = "not-a-secret"
)

func postgresContainer(ctx context.Context) (string, func() error, error) {
	return Container(ctx, "5432/tcp", func(ctx context.Context) (testcontainers.Container, error) {
		return postgres.Run(ctx, postgresImage, postgres.WithUsername("postgres"), postgres.WithPassword(containerPassword),
			postgres.BasicWaitStrategies())
	}, func(address string) string {
		return "postgres://postgres:" + containerPassword + "@" + address + "/postgres?sslmode=disable"
	})
}

func mariadbContainer(ctx context.Context) (string, func() error, error) {
	return Container(ctx, "3306/tcp", func(ctx context.Context) (testcontainers.Container, error) {
		return mariadb.Run(ctx, mariadbImage, mariadb.WithUsername("root"), mariadb.WithPassword(containerPassword), mysqlReady())
	}, mysqlURL)
}

// mysqlContainer starts a server that does not wait for the disk, as the module does for
// PostgreSQL.
func mysqlContainer(ctx context.Context) (string, func() error, error) {
	return Container(ctx, "3306/tcp", func(ctx context.Context) (testcontainers.Container, error) {
		return mysql.Run(ctx, mysqlImage, mysql.WithUsername("root"), mysql.WithPassword(containerPassword), mysqlReady(),
			testcontainers.WithTmpfs(map[string]string{"/var/lib/mysql": "rw"}),
			testcontainers.WithCmd("--skip-log-bin", "--innodb-flush-log-at-trx-commit=0", "--innodb-doublewrite=0", "--performance-schema=off"))
	}, mysqlURL)
}

func mysqlURL(address string) string {
	return "mysql://root:" + containerPassword + "@" + address + "/"
}

// mysqlReady polls the server until it is ready. The log lines that the modules wait for
// differ between builds.
func mysqlReady() testcontainers.CustomizeRequestOption {
	return testcontainers.WithWaitStrategy(wait.ForSQL("3306/tcp", "mysql", func(host string, port network.Port) string {
		return "root:" + containerPassword + "@tcp(" + net.JoinHostPort(host, port.Port()) + ")/"
	}).WithStartupTimeout(Patience))
}

// Container calls run to start a container. It returns the URL of the server in it, which
// serverURL makes from the address of the port on this machine, and the function that
// terminates the container. A panic of run, which occurs without Docker, is an error.
func Container(ctx context.Context, port string, run func(context.Context) (testcontainers.Container, error), serverURL func(address string) string) (string, func() error, error) {
	c, err := guarded(ctx, run)
	end := func() error { return testcontainers.TerminateContainer(c) }
	if err == nil {
		var endpoint string
		endpoint, err = c.PortEndpoint(ctx, port, "tcp")
		if u, failed := url.Parse(endpoint); err == nil && failed == nil {
			return serverURL(u.Host), end, nil
		}
	}
	_ = end() // it may have been started partly
	return "", nil, fmt.Errorf("container: %w", err)
}

// guarded converts a panic of run to an error.
func guarded(ctx context.Context, run func(context.Context) (testcontainers.Container, error)) (c testcontainers.Container, err error) {
	defer func() {
		if v := recover(); v != nil {
			err = fmt.Errorf("docker: %v", v)
		}
	}()
	return run(ctx)
}
