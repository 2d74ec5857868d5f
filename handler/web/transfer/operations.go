package transfer

import (
	"github.com/guidonhq/guidon/handler/web/page"
	"github.com/guidonhq/guidon/handler/wire/flipt"
	"github.com/guidonhq/guidon/handler/wire/guidonv1"
)

// The operations that the pages run.
const (
	exportDocument page.Operation[*guidonv1.ExportRequest, *guidonv1.Document]         = "/guidon.v1.DocumentService/Export"
	getNamespace   page.Operation[*flipt.GetNamespaceRequest, *flipt.Namespace]        = "/flipt.Flipt/GetNamespace"
	listFlags      page.Operation[*flipt.ListFlagRequest, *flipt.FlagList]             = "/flipt.Flipt/ListFlags"
	listSegments   page.Operation[*flipt.ListSegmentRequest, *flipt.SegmentList]       = "/flipt.Flipt/ListSegments"
	makePlan       page.Operation[*guidonv1.PlanRequest, *guidonv1.PlanResponse]       = "/guidon.v1.PlanService/Plan"
	applyPlan      page.Operation[*guidonv1.ApplyRequest, *guidonv1.PlanResponse]      = "/guidon.v1.PlanService/Apply"
	compareStates  page.Operation[*guidonv1.CompareRequest, *guidonv1.CompareResponse] = "/guidon.v1.CompareService/Compare"
)
