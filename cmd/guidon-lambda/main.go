// Command guidon-lambda is the service as a function of AWS Lambda, on a database
// that instances share. Its events are requests, of an API Gateway, a load
// balancer or a function URL; schedules, which clean up; and an operator's
// {"guidon":"migrate"} and {"guidon":"cleanup"}.
//
// It is configured as "guidon server" is, by the environment and by the file
// guidon.yml beside it, if there is one. Nothing runs between two events.
package main

import (
	"fmt"
	"os"
	"path/filepath"
)

// Set by the release build: -ldflags "-X main.version=v1.2.3 -X main.commit=… -X main.date=…".
// Where they are empty, the build information that Go records speaks.
var version, commit, date string

func main() {
	f, err := newFunction(os.Environ(), configFile(os.Getenv("LAMBDA_TASK_ROOT")), os.Stdout)
	if err != nil {
		// The platform starts the next one with the next event, and shows the log.
		fmt.Fprintf(os.Stderr, "guidon-lambda: %v\n", err)
		os.Exit(1)
	}
	f.Run()
}

// configFile returns the configuration file in the function's own folder, or ""
// for none.
func configFile(folder string) string {
	path := filepath.Join(folder, "guidon.yml")
	if _, err := os.Stat(path); folder == "" || err != nil { // #nosec G703 -- the folder is the platform's
		return ""
	}
	return path
}
