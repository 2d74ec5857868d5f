//go:build !linux

package dbproc

import "syscall"

func dieWithParent(*syscall.SysProcAttr) {}
