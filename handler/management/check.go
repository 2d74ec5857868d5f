package management

import (
	"google.golang.org/protobuf/proto"

	"github.com/guidonhq/guidon/handler/convert"
	"github.com/guidonhq/guidon/service"
)

// The checks of requests that read a namespace, for [Operation.validating]. They depend on
// the request alone, and a [service.View] makes them too, for other callers.

func CheckPage(m proto.Message) error { return convert.Page(m.(convert.PageRequest)).Validate() }

func CheckRollouts(m proto.Message) error {
	return convert.Page(m.(convert.PageRequest)).ValidateTokenFirst()
}

func CheckKey(m proto.Message) error {
	return service.NotEmpty("key", m.(interface{ GetKey() string }).GetKey())
}

func CheckRules(m proto.Message) error {
	if err := service.NotEmpty("flagKey", m.(convert.OfFlag).GetFlagKey()); err != nil {
		return err
	}
	return CheckPage(m)
}

func CheckRule(m proto.Message) error {
	return service.RuleKeys(m.(interface{ GetId() string }).GetId(), m.(convert.OfFlag).GetFlagKey())
}
