package handler

import "github.com/guidonhq/guidon"

// maxPage bounds a page of a list, in bytes: a client of gRPC takes 4 MiB unless it
// is told otherwise. What is one object alone may be larger.
const maxPage = 3 << 20

// fitting returns how many of the items go into one page, at least one, so that
// whoever follows the pages gets on, and what they weigh together.
func fitting[T any](items []T, weigh func(T) int) (n, weight int) {
	for _, item := range items {
		more := weigh(item)
		if n > 0 && weight+more > maxPage {
			break
		}
		n, weight = n+1, weight+more
	}
	return n, weight
}

// cut ends the page where it would become too large, with the token of the next
// one. name returns the key or id of an item.
func cut[T any](request guidon.PageRequest, items []T, page guidon.Page, name func(T) string, weigh func(T) int) ([]T, guidon.Page) {
	n, _ := fitting(items, weigh)
	if n < len(items) {
		page.NextToken = request.After(n, name(items[n]))
	}
	return items[:n], page
}
