package management

import (
	"google.golang.org/protobuf/proto"

	"github.com/guidonhq/guidon/handler/convert"
	"github.com/guidonhq/guidon/service"
)

// The checks of requests that read a namespace, for [call.Operation.Validating]. They depend
// on the request alone, and a [service.View] makes them too, for other callers.

// CheckPage checks the page of a list request.
func CheckPage(m proto.Message) error { return convert.Page(m.(convert.PageRequest)).Validate() }

// CheckRollouts checks the page of a list of rollouts, whose errors come in another order.
func CheckRollouts(m proto.Message) error {
	return convert.Page(m.(convert.PageRequest)).ValidateTokenFirst()
}

// CheckKey checks that there is a key.
func CheckKey(m proto.Message) error {
	return service.NotEmpty("key", m.(interface{ GetKey() string }).GetKey())
}

// CheckRules checks the request for a list of rules.
func CheckRules(m proto.Message) error {
	if err := service.NotEmpty("flagKey", m.(convert.OfFlag).GetFlagKey()); err != nil {
		return err
	}
	return CheckPage(m)
}

// CheckRule checks the keys of a request for a rule.
func CheckRule(m proto.Message) error {
	return service.RuleKeys(m.(interface{ GetId() string }).GetId(), m.(convert.OfFlag).GetFlagKey())
}
