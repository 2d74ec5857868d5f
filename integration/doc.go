// Package integration tests the real binary as users run it. Processes are started, killed
// and stopped, several of them share a database, and clients use plain HTTP, gRPC and
// published libraries. It also tests the store on every supported database. The package
// contains only tests and benchmarks.
//
// TestSuite runs the acceptance tests of package handler against the real programs: the
// server, and the function behind each front of AWS Lambda.
//
// A test that needs a database uses the first of these that is available:
//
//   - the server at TEST_POSTGRES_URL, TEST_MYSQL_URL or TEST_MARIADB_URL, such as
//     postgres://user:password@host/postgres, on which it must be allowed to create
//     databases;
//   - a private process (package dbproc), if PostgreSQL or MariaDB is installed as on
//     Debian; the tests that kill or freeze a database use nothing else;
//   - a container, if Docker is running.
//
// TEST_DATABASES=containers excludes private processes. Tests whose database is missing
// are skipped or, with INTEGRATION=1, fail.
//
// The benchmarks find their databases in the same way, but use separate private processes,
// which wait for the disk at every commit.
package integration
