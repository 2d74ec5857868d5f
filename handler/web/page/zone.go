package page

import "errors"

// CheckZone returns an error unless visitors can choose the time zone, which has an IANA
// name and is known to the program or the machine. The empty one is UTC.
func CheckZone(name string) error {
	if name == "Local" {
		return errLocalZone
	}
	_, err := zone(name)
	return err
}

// errLocalZone is the error for the zone of the server, which cannot be chosen.
var errLocalZone = errors.New("the zone of the server cannot be chosen")
