package management

import (
	"github.com/guidonhq/guidon/handler/convert"
	"github.com/guidonhq/guidon/handler/wire/flipt"
	"github.com/guidonhq/guidon/service"
)

// The checks of requests that read a namespace. They depend on the request alone, and a
// [service.View] makes them too, for other callers.

// CheckPage checks the page of a list request.
func CheckPage[M convert.PageRequest](m M) error { return convert.Page(m).Validate() }

// CheckRollouts checks the page of a list of rollouts, whose errors come in another order.
func CheckRollouts(m *flipt.ListRolloutRequest) error { return convert.Page(m).ValidateTokenFirst() }

// CheckKey checks that there is a key.
func CheckKey[M interface{ GetKey() string }](m M) error { return service.NotEmpty("key", m.GetKey()) }

// CheckRules checks the request for a list of rules.
func CheckRules(m *flipt.ListRuleRequest) error {
	if err := service.NotEmpty("flagKey", m.GetFlagKey()); err != nil {
		return err
	}
	return CheckPage(m)
}

// CheckRule checks the keys of a request for a rule.
func CheckRule(m *flipt.GetRuleRequest) error { return service.RuleKeys(m.GetId(), m.GetFlagKey()) }
