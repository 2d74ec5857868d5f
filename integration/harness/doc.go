// Package harness runs guidon and its databases for the tests in the folders of integration,
// which test the real programs as users run them, and the store on every supported database:
//
//   - database: the store, its schema and the commands on databases
//   - cluster: servers as processes that are killed, restarted, and share a database
//   - clients: published libraries, generated clients, the acceptance tests of package handler, web pages
//   - browser: the web pages in Chromium
//   - login: signing in, with a certified provider and with those that misbehave, and roles
//   - lambda: the function for AWS Lambda, and its benchmark next to an empty one
//   - release: the archives and packages of a release, installed in a root directory of their own,
//     and the container image
//   - docs: the commands and programs of README and docs, as a reader copies them
//
// Only these tests and the benchmarks in bench/store import it. A helper belongs
// here if several folders need it. The package starts the server and its commands as processes,
// the function for AWS Lambda, and database servers with a database for each test. Everything that
// a function starts ends with its test, except for the database servers that the tests of a
// package share.
//
// A package that uses it has this TestMain:
//
//	func TestMain(m *testing.M) { os.Exit(harness.Run(m)) }
//
// A test that needs a database uses the first of these that is available:
//
//   - the server at TEST_POSTGRES_URL, TEST_MYSQL_URL or TEST_MARIADB_URL, such as
//     postgres://user:password@host/postgres, on which it must be allowed to create
//     databases;
//   - a private process (package dbtest), if PostgreSQL or MariaDB is installed as on
//     Debian; the tests that kill or freeze a database use nothing else;
//   - a container, if Docker is running.
//
// TEST_DATABASES=containers excludes private processes. Tests whose database is missing
// are skipped or, with INTEGRATION=1, fail.
//
// The pages are opened in Debian's chromium-headless-shell or chromium, and checked by axe-core,
// which npm installs.
//
// The benchmarks find their databases in the same way, but use separate private processes,
// which wait for the disk at every commit.
//
// make integration builds the programs once, in the folder TEST_PROGRAMS. Without it, each package
// builds those that it needs.
package harness
