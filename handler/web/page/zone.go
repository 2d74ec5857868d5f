package page

import (
	"errors"
	"time"
)

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

// timeForms are the forms of times without a zone. Fractions of a second may follow.
var timeForms = []string{"2006-01-02 15:04:05", "2006-01-02 15:04", "2006-01-02T15:04:05", "2006-01-02T15:04", "2006-01-02"}

// ParseTime returns the time that the text says, by RFC 3339 or in the time zone, and whether it
// says one.
func ParseTime(text string, zone *time.Location) (time.Time, bool) {
	if at, err := time.Parse(time.RFC3339, text); err == nil {
		return at, true
	}
	for _, form := range timeForms {
		if at, err := time.ParseInLocation(form, text, zone); err == nil {
			return at, true
		}
	}
	return time.Time{}, false
}
