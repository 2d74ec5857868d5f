// Package integration tests the real binary as its users run it: started,
// killed and stopped as a process, several at once on one database, driven over
// the network by plain HTTP, gRPC and published client libraries; and the store on
// every database that it supports. It holds tests
// and benchmarks only.
//
// TestSuite runs the acceptance tests of package handler against the real programs:
// the server, and the function behind each front of AWS Lambda.
//
// A test that needs a database takes the first of these:
//
//   - the server of TEST_POSTGRES_URL, TEST_MYSQL_URL or TEST_MARIADB_URL, such as
//     postgres://user:password@host/postgres, where it may create databases;
//   - a private process (package dbproc), where PostgreSQL or MariaDB is installed
//     as Debian does it; the tests that kill and freeze a database use nothing else;
//   - a container, where Docker answers.
//
// TEST_DATABASES=containers leaves the private processes out. What is missing skips
// its tests, or fails them with INTEGRATION=1.
//
// The benchmarks take their databases the same way, but have private processes of
// their own, which wait for the disk at every commit.
package integration
