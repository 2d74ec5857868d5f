package integration

import (
	"fmt"
	"os"
	"testing"
)

func TestMain(m *testing.M) {
	if database, ok := os.LookupEnv(asBareServer); ok {
		fmt.Fprintln(os.Stderr, runBareServer(database))
		os.Exit(1)
	}
	os.Exit(run(m))
}
