package part

import (
	"slices"
	"strconv"
	"strings"
)

// The size of a sparkline in units of its viewBox. The line has room for half its width.
const (
	sparkHeight = 20
	sparkStep   = 4
)

func sparkBox(values []float64) string {
	return "0 0 " + strconv.Itoa((len(values)-1)*sparkStep) + " " + strconv.Itoa(sparkHeight)
}

// sparkPoints returns the points of a line that is as high as the highest value. One must be above 0.
func sparkPoints(values []float64) string {
	points, highest := make([]string, len(values)), slices.Max(values)
	for i, value := range values {
		y := sparkHeight - 1 - value/highest*(sparkHeight-2)
		points[i] = strconv.Itoa(i*sparkStep) + "," + strconv.FormatFloat(y, 'f', 1, 64)
	}
	return strings.Join(points, " ")
}
