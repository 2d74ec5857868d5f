package call

import (
	"net/http"

	"github.com/guidonhq/guidon"
)

// OK is the code of a request without an error.
const OK guidon.Code = 255

// statusClientGone is the status for a caller that disconnected (contract 5.2).
const statusClientGone = 499

// transportCode is the form of a code on the wire.
type transportCode struct {
	grpc uint32
	http int
}

// transportCodes is the mapping of contract 5.2. FailedPrecondition, TooLarge and Limited
// are additions: the reference uses none of them.
var transportCodes = [...]transportCode{
	guidon.Internal:           {13, http.StatusInternalServerError},
	guidon.InvalidArgument:    {3, http.StatusBadRequest},
	guidon.NotFound:           {5, http.StatusNotFound},
	guidon.Unauthenticated:    {16, http.StatusUnauthorized},
	guidon.PermissionDenied:   {7, http.StatusForbidden},
	guidon.FailedPrecondition: {9, http.StatusPreconditionFailed},
	guidon.TooLarge:           {8, http.StatusRequestEntityTooLarge},
	guidon.Unimplemented:      {12, http.StatusNotImplemented},
	guidon.Unavailable:        {14, http.StatusServiceUnavailable},
	guidon.Canceled:           {1, statusClientGone},
	guidon.DeadlineExceeded:   {4, http.StatusGatewayTimeout},
	guidon.Limited:            {8, http.StatusTooManyRequests},
}

// Codes returns all codes, [OK] included.
func Codes() []guidon.Code {
	codes := []guidon.Code{OK}
	for code := range transportCodes {
		codes = append(codes, guidon.Code(code))
	}
	return codes
}

// GRPCCode returns the number of the gRPC status code, 0 for [OK].
func GRPCCode(code guidon.Code) uint32 { return transportOf(code).grpc }

// HTTPStatus returns the HTTP status, 200 for [OK].
func HTTPStatus(code guidon.Code) int { return transportOf(code).http }

func transportOf(code guidon.Code) transportCode {
	switch {
	case code == OK:
		return transportCode{0, http.StatusOK}
	case int(code) < len(transportCodes):
		return transportCodes[code]
	}
	return transportCodes[guidon.Internal]
}
