// Package suggest finds what a misspelled name may mean.
package suggest

// Closest returns the candidate that text most likely misspells, or "".
func Closest(text string, candidates []string) string {
	best, bestDistance := "", max(2, len(text)/4)+1
	for _, candidate := range candidates {
		if d := distance(text, candidate); d < bestDistance {
			best, bestDistance = candidate, d
		}
	}
	return best
}

// distance returns the Levenshtein distance between a and b, in bytes.
func distance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			cost := diagonal
			if a[i] != b[j] {
				cost++
			}
			diagonal = row[j+1]
			row[j+1] = min(cost, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(b)]
}
