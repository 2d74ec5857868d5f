// Command shop evaluates two flags of a shop by OpenFeature.
package main

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"time"

	"github.com/open-feature/go-sdk-contrib/providers/ofrep"
	"github.com/open-feature/go-sdk/openfeature"
)

func main() {
	if err := run(context.Background()); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(ctx context.Context) error {
	options := []ofrep.Option{
		ofrep.WithHeader("X-Guidon-Namespace", "default"),
		ofrep.WithTimeout(2 * time.Second),
	}
	if token := os.Getenv("GUIDON_TOKEN"); token != "" {
		options = append(options, ofrep.WithBearerToken(token))
	}
	url := cmp.Or(os.Getenv("GUIDON_URL"), "http://127.0.0.1:8080")
	if err := openfeature.SetProviderWithContextAndWait(ctx, ofrep.NewProvider(url, options...)); err != nil {
		return err
	}
	defer openfeature.Shutdown()

	client := openfeature.NewClient("shop")
	user := openfeature.NewEvaluationContext("u-3", map[string]any{"country": "SE", "orders": 2})

	// The default, here false, is the value if the server cannot be asked or has no such flag.
	dark, err := client.BooleanValueDetails(ctx, "dark-mode", false, user)
	if err != nil {
		fmt.Fprintln(os.Stderr, "using the default of dark-mode:", err)
	}
	fmt.Printf("dark-mode: %t (%s)\n", dark.Value, dark.Reason)

	payment, err := client.StringValueDetails(ctx, "payment-methods", "international", user)
	if err != nil {
		fmt.Fprintln(os.Stderr, "using the default of payment-methods:", err)
	}
	fmt.Printf("payment-methods: %s (%s)\n", payment.Value, payment.Reason)
	return nil
}
