package convert

// MaxPage limits a page of a list, in bytes: gRPC clients accept 4 MiB by default. A
// page with a single object may be larger.
const MaxPage = 3 << 20

// Fitting returns how many of the items fit into one page, and their total weight. It is
// at least one item, so that clients always make progress.
func Fitting[T any](items []T, weigh func(T) int) (n, weight int) {
	for _, item := range items {
		more := weigh(item)
		if n > 0 && weight+more > MaxPage {
			break
		}
		n, weight = n+1, weight+more
	}
	return n, weight
}
