package transfer

import (
	"fmt"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/document"
	"github.com/guidonhq/guidon/examples"
	"github.com/guidonhq/guidon/handler/convert"
	"github.com/guidonhq/guidon/handler/web/page"
	"github.com/guidonhq/guidon/handler/web/review"
	"github.com/guidonhq/guidon/handler/wire/flipt"
	"github.com/guidonhq/guidon/handler/wire/guidonv1"
	"github.com/guidonhq/guidon/service"
)

// importExample imports an example into the namespace, which must be empty.
func importExample(v *page.Visit, name string) error {
	if name != "shop" {
		return guidon.Errorf(guidon.InvalidArgument, "invalid field example: must be shop")
	}
	empty, err := isEmpty(v)
	if err != nil {
		return err
	}
	if !empty {
		return &page.Error{
			Heading: "The example was not imported", Text: "It is only for a namespace without flags and segments.",
			Err: guidon.Errorf(guidon.FailedPrecondition, "namespace %q is not empty", v.Key()),
		}
	}
	documents, err := document.Decode(examples.Shop, document.YAML, document.RejectUnknown)
	if err != nil {
		return err
	}
	shop := documents[0]
	shop.Namespace = service.DocumentNamespace{Key: v.Key()}
	request := &guidonv1.PlanRequest{NamespaceKey: v.Key(), Document: convert.WireDocument(shop), Mode: guidonv1.PlanMode_CREATE_PLAN_MODE}
	plan, err := page.MakePlan.Run(v, request)
	if err != nil {
		return err
	}
	applied, err := review.Apply(v, request, plan.GetDigest(), "Example shop")
	if err != nil {
		return err
	}
	return v.Redirect(fmt.Sprintf("%s?saved=%d", page.Below("namespaces", v.Key(), "flags"), applied.GetRevision()))
}

// isEmpty reports whether the namespace has no flags and no segments.
func isEmpty(v *page.Visit) (bool, error) {
	flags, err := page.ListFlags.Run(v, &flipt.ListFlagRequest{NamespaceKey: v.Key(), Limit: 1})
	if err != nil || len(flags.GetFlags()) > 0 {
		return false, err
	}
	segments, err := page.ListSegments.Run(v, &flipt.ListSegmentRequest{NamespaceKey: v.Key(), Limit: 1})
	return err == nil && len(segments.GetSegments()) == 0, err
}
