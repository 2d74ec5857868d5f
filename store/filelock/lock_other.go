//go:build !windows && (!unix || solaris || illumos || aix)

package filelock

func acquire(string) (*Lock, error) { return nil, ErrUnsupported }

func (l *Lock) unlock() error { return closeAll(l.files) }

// Links returns [ErrUnsupported].
func Links(string) (int, error) { return 0, ErrUnsupported }
