// Package address finds the address of a caller, also of one behind proxies.
package address
