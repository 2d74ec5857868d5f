package service_test

import (
	"testing"

	"github.com/guidonhq/guidon/service"
)

// TestServiceAccountPatterns: either part may be any, and nothing else is a pattern.
func TestServiceAccountPatterns(t *testing.T) {
	for pattern, want := range map[string]bool{
		"shop/checkout": true, "shop/checkout.v2": true, "shop/*": true, "*/checkout": true, "*/*": true,
		"": false, "*": false, "shop": false, "/": false, "shop/": false, "/checkout": false, "shop/check*": false, "sh*/checkout": false,
		"shop/**": false, "shop/*/x": false, "shop/a/b": false, "Shop/a": false, "shop/a..b": false, "shop/a ": false, "shop.a/b": false,
	} {
		if got := service.IsServiceAccountPattern(pattern); got != want {
			t.Errorf("%q: got %v, want %v", pattern, got, want)
		}
	}
	accounts := service.ServiceAccounts{"shop/checkout", "ops/*", "*/metrics"}
	for account, want := range map[string]bool{
		"shop/checkout": true, "ops/x": true, "any/metrics": true, "shop/check": false, "shop/checkout2": false, "ops2/x": false, "any/metrics2": false, "": false,
	} {
		if got := accounts.Match(account); got != want {
			t.Errorf("%q: got %v, want %v", account, got, want)
		}
	}
	if !service.ServiceAccounts(nil).Match("shop/checkout") {
		t.Error("without patterns: not admitted, want all")
	}
}
