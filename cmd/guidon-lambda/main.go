// Command guidon-lambda runs the service as an AWS Lambda function, on a database
// that its instances share. It handles requests from an API Gateway, a load balancer
// or a function URL. Scheduled events run the cleanup. An operator can invoke it with
// {"guidon":"migrate"} and {"guidon":"cleanup"}.
//
// It is configured like "guidon server", by the environment and by the file guidon.yml
// in the function's directory, if it exists. Nothing runs between two events.
package main

import (
	"fmt"
	"os"
	"path/filepath"
)

// Set by the release build: -ldflags "-X main.version=v1.2.3 -X main.commit=… -X main.date=…".
// If they are empty, the build information recorded by Go is used.
var version, commit, date string

func main() {
	f, err := newFunction(os.Environ(), configFile(os.Getenv("LAMBDA_TASK_ROOT")), os.Stdout)
	if err != nil {
		// The platform logs this and starts the function again for the next event.
		fmt.Fprintf(os.Stderr, "guidon-lambda: %v\n", err)
		os.Exit(1)
	}
	f.Run()
}

// configFile returns the configuration file in the function's directory, or "" if
// there is none.
func configFile(dir string) string {
	path := filepath.Join(dir, "guidon.yml")
	if _, err := os.Stat(path); dir == "" || err != nil { // #nosec G703 -- the platform sets the directory
		return ""
	}
	return path
}
