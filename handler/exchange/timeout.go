package exchange

import (
	"strconv"
	"time"

	"github.com/guidonhq/guidon"
)

// timeoutUnits are the units of the header Grpc-Timeout.
var timeoutUnits = map[byte]time.Duration{
	'H': time.Hour, 'M': time.Minute, 'S': time.Second,
	'm': time.Millisecond, 'u': time.Microsecond, 'n': time.Nanosecond,
}

func parseGRPCTimeout(header string) (time.Duration, error) {
	invalid := guidon.Errorf(guidon.InvalidArgument,
		"invalid header Grpc-Timeout: must be a whole number of at most 8 digits and a unit of H, M, S, m, u, n")
	last := len(header) - 1
	unit, ok := timeoutUnits[header[last]]
	if !ok || last > 8 {
		return 0, invalid
	}
	count, err := strconv.ParseUint(header[:last], 10, 32)
	if err != nil {
		return 0, invalid
	}
	return min(time.Duration(count), time.Duration(1<<62)/unit) * unit, nil // #nosec G115 -- 8 digits
}
