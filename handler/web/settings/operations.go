package settings

import (
	"google.golang.org/genproto/googleapis/api/httpbody"
	"google.golang.org/protobuf/types/known/emptypb"

	"github.com/guidonhq/guidon/handler/web/page"
	"github.com/guidonhq/guidon/handler/wire/auth"
	"github.com/guidonhq/guidon/handler/wire/flipt"
	"github.com/guidonhq/guidon/handler/wire/guidonv1"
)

// The operations that the pages run.
const (
	listSessions  page.Operation[*emptypb.Empty, *guidonv1.ListSessionsResponse]                      = "/guidon.v1.SessionService/ListSessions"
	deleteSession page.Operation[*guidonv1.DeleteSessionRequest, *emptypb.Empty]                      = "/guidon.v1.SessionService/DeleteSession"
	createToken   page.Operation[*auth.CreateTokenRequest, *auth.CreateTokenResponse]                 = "/flipt.auth.AuthenticationMethodTokenService/CreateToken" // #nosec G101 -- a name
	listTokens    page.Operation[*auth.ListAuthenticationsRequest, *auth.ListAuthenticationsResponse] = "/flipt.auth.AuthenticationService/ListAuthentications"    // #nosec G101 -- a name
	getToken      page.Operation[*auth.GetAuthenticationRequest, *auth.Authentication]                = "/flipt.auth.AuthenticationService/GetAuthentication"      // #nosec G101 -- a name
	deleteToken   page.Operation[*auth.DeleteAuthenticationRequest, *emptypb.Empty]                   = "/flipt.auth.AuthenticationService/DeleteAuthentication"   // #nosec G101 -- a name

	listBindings  page.Operation[*emptypb.Empty, *guidonv1.ListBindingsResponse]         = "/guidon.v1.AccessService/ListBindings"
	createBinding page.Operation[*guidonv1.CreateBindingRequest, *guidonv1.Binding]      = "/guidon.v1.AccessService/CreateBinding"
	deleteBinding page.Operation[*guidonv1.DeleteBindingRequest, *emptypb.Empty]         = "/guidon.v1.AccessService/DeleteBinding"
	deleteAllOf   page.Operation[*guidonv1.DeleteAuthenticationsRequest, *emptypb.Empty] = "/guidon.v1.AccessService/DeleteAuthentications"

	listRecords page.Operation[*guidonv1.ListChangesRequest, *guidonv1.ListChangesResponse] = "/guidon.v1.ChangeService/ListChanges"

	listWebhooks   page.Operation[*guidonv1.ListWebhooksRequest, *guidonv1.WebhookList]           = "/guidon.v1.WebhookService/ListWebhooks"
	createWebhook  page.Operation[*guidonv1.CreateWebhookRequest, *guidonv1.Webhook]              = "/guidon.v1.WebhookService/CreateWebhook"
	getWebhook     page.Operation[*guidonv1.WebhookRequest, *guidonv1.Webhook]                    = "/guidon.v1.WebhookService/GetWebhook"
	updateWebhook  page.Operation[*guidonv1.UpdateWebhookRequest, *guidonv1.Webhook]              = "/guidon.v1.WebhookService/UpdateWebhook"
	deleteWebhook  page.Operation[*guidonv1.WebhookRequest, *emptypb.Empty]                       = "/guidon.v1.WebhookService/DeleteWebhook"
	rotateSecret   page.Operation[*guidonv1.RotateWebhookSecretRequest, *guidonv1.Webhook]        = "/guidon.v1.WebhookService/RotateWebhookSecret" // #nosec G101 -- a name
	testWebhook    page.Operation[*guidonv1.WebhookRequest, *guidonv1.WebhookDelivery]            = "/guidon.v1.WebhookService/TestWebhook"
	pauseWebhook   page.Operation[*guidonv1.WebhookRequest, *guidonv1.Webhook]                    = "/guidon.v1.WebhookService/PauseWebhook"
	resumeWebhook  page.Operation[*guidonv1.WebhookRequest, *guidonv1.Webhook]                    = "/guidon.v1.WebhookService/ResumeWebhook"
	replayWebhook  page.Operation[*guidonv1.ReplayWebhookRequest, *guidonv1.Webhook]              = "/guidon.v1.WebhookService/ReplayWebhook"
	listDeliveries page.Operation[*guidonv1.ListDeliveriesRequest, *guidonv1.WebhookDeliveryList] = "/guidon.v1.WebhookService/ListDeliveries"

	getNamespace    page.Operation[*flipt.GetNamespaceRequest, *flipt.Namespace]    = "/flipt.Flipt/GetNamespace"
	createNamespace page.Operation[*flipt.CreateNamespaceRequest, *flipt.Namespace] = "/flipt.Flipt/CreateNamespace"
	updateNamespace page.Operation[*flipt.UpdateNamespaceRequest, *flipt.Namespace] = "/flipt.Flipt/UpdateNamespace"
	deleteNamespace page.Operation[*flipt.DeleteNamespaceRequest, *emptypb.Empty]   = "/flipt.Flipt/DeleteNamespace"
	listFlags       page.Operation[*flipt.ListFlagRequest, *flipt.FlagList]         = "/flipt.Flipt/ListFlags"
	listSegments    page.Operation[*flipt.ListSegmentRequest, *flipt.SegmentList]   = "/flipt.Flipt/ListSegments"

	getInfo          page.Operation[*emptypb.Empty, *httpbody.HttpBody] = "/flipt.meta.MetadataService/GetInfo"
	getConfiguration page.Operation[*emptypb.Empty, *httpbody.HttpBody] = "/flipt.meta.MetadataService/GetConfiguration"
)

// needed are the names of the operations.
var needed = []string{
	string(listSessions), string(deleteSession), string(createToken), string(listTokens), string(getToken), string(deleteToken),
	string(listBindings), string(createBinding), string(deleteBinding), string(deleteAllOf), string(listRecords),
	string(listWebhooks), string(createWebhook), string(getWebhook), string(updateWebhook), string(deleteWebhook), string(rotateSecret),
	string(testWebhook), string(pauseWebhook), string(resumeWebhook), string(replayWebhook), string(listDeliveries),
	string(getNamespace), string(createNamespace), string(updateNamespace), string(deleteNamespace), string(listFlags), string(listSegments),
	string(getInfo), string(getConfiguration),
}
