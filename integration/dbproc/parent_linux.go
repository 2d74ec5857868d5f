package dbproc

import "syscall"

// dieWithParent ends the server when the test ends, however that comes about.
func dieWithParent(a *syscall.SysProcAttr) { a.Pdeathsig = syscall.SIGKILL }
