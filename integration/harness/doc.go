// Package harness runs guidon and its databases for tests: the server and its commands as
// processes, the function for AWS Lambda, and database servers with a database for each
// test. Only tests import it. Everything that a function starts ends with its test, except
// for the database servers that the tests of a package share.
//
// A package that uses it has this TestMain:
//
//	func TestMain(m *testing.M) { os.Exit(harness.Run(m)) }
package harness
