// Package page has what all pages have in common: who visits, about which namespace, the
// frame with the navigation, errors, preferences and assets.
//
// A [Site] has the data that the pages of a service share; [Routes] are its pages; a [Visit] is one
// request for one. Pages change and read everything by operations of the API ([Operation]),
// which they run with the session of the browser, so that a page can do nothing that its
// visitor could not do by the API.
package page
