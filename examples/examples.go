// Package examples has the files of this folder that programs use.
package examples

import _ "embed" // of the files

// Shop is the file shop.yaml: the flags of a fictional shop.
//
//go:embed shop.yaml
var Shop []byte
