package dbtest

import "syscall"

// dieWithParent kills the server when the test process ends for any reason.
func dieWithParent(a *syscall.SysProcAttr) { a.Pdeathsig = syscall.SIGKILL }
