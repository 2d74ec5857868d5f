package page

import (
	"errors"
	_ "time/tzdata" // machines and containers need not have the zones
)

// CheckZone returns an error unless visitors can choose the time zone, which has an IANA
// name. The empty one is UTC.
func CheckZone(name string) error {
	if name == "Local" {
		return errLocalZone
	}
	_, err := zone(name)
	return err
}

// errLocalZone is the error for the zone of the server, which is nobody's choice.
var errLocalZone = errors.New("the zone of the server cannot be chosen")
