//go:build !linux

package dbtest

import "syscall"

func dieWithParent(*syscall.SysProcAttr) {}
