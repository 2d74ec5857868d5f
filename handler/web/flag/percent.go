package flag

import (
	"math"
	"strconv"
	"strings"
)

// parseShare returns the share in percent that was typed, and the problem if it is invalid.
func parseShare(text string) (share float32, problem string) {
	trimmed := strings.TrimSpace(strings.TrimSuffix(strings.TrimSpace(text), "%"))
	n, err := strconv.ParseFloat(trimmed, 32)
	switch {
	case err == nil && n >= 0 && n <= 100 && strings.Trim(trimmed, "0123456789.") == "":
		return float32(n), ""
	case err != nil && strings.Count(trimmed, ",") == 1:
		point := strings.Replace(trimmed, ",", ".", 1)
		if _, err := strconv.ParseFloat(point, 32); err == nil {
			return 0, "Not a number: " + trimmed + ". Write " + point + "."
		}
	}
	return 0, "A number from 0 to 100."
}

// shareText returns a share as it stands in a field.
func shareText(share float32) string { return strconv.FormatFloat(float64(share), 'f', -1, 32) }

// rounded returns the share with at most three decimals, which are as many as shares have.
func rounded(n float64) float64 { return math.Round(n*1000) / 1000 }

// ceilPercent returns the whole percents in which a share of a boolean flag takes effect.
func ceilPercent(share float32) float64 { return math.Ceil(float64(share)) }
