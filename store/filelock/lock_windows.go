package filelock

import (
	"errors"
	"os"
	"syscall"
)

// errSharing is ERROR_SHARING_VIOLATION.
const errSharing = syscall.Errno(32)

// acquire locks a separate file, which it keeps open without sharing it for writing.
// If the file itself were locked, SQLite could not read it on Windows.
func acquire(path string) (*Lock, error) {
	file, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600) // #nosec G304 -- the operator's own choice
	if err != nil {
		return nil, err
	}
	info, err := file.Stat()
	if err := errors.Join(err, file.Close()); err != nil {
		return nil, err
	}
	lockPath := path + Suffix
	separate, err := open(lockPath, syscall.GENERIC_READ|syscall.GENERIC_WRITE, syscall.FILE_SHARE_READ, syscall.OPEN_ALWAYS)
	if errors.Is(err, errSharing) {
		return nil, &HeldError{Path: path, Holder: holderOf(lockPath)}
	}
	if err != nil {
		return nil, err
	}
	if err := writeHolder(separate); err != nil {
		return nil, errors.Join(err, separate.Close())
	}
	return &Lock{path: path, info: info, files: []*os.File{separate}, lockPath: lockPath}, nil
}

// unlock removes the separate file. The removal fails if another process has locked
// it by then.
func (l *Lock) unlock() error {
	err := closeAll(l.files)
	_ = os.Remove(l.lockPath)
	return err
}

// holderOf returns the process that the locked file names.
func holderOf(lockPath string) Holder {
	file, err := open(lockPath, syscall.GENERIC_READ, syscall.FILE_SHARE_READ|syscall.FILE_SHARE_WRITE, syscall.OPEN_EXISTING)
	if err != nil {
		return Holder{}
	}
	defer file.Close()
	return readHolder(file)
}

// open opens the file with the share mode.
func open(path string, access, share, disposition uint32) (*os.File, error) {
	name, err := syscall.UTF16PtrFromString(path)
	if err != nil {
		return nil, err
	}
	handle, err := syscall.CreateFile(name, access, share, nil, disposition, syscall.FILE_ATTRIBUTE_NORMAL, 0)
	if err != nil {
		return nil, &os.PathError{Op: "open", Path: path, Err: err}
	}
	return os.NewFile(uintptr(handle), path), nil
}

// Links returns the number of hard links of the file.
func Links(path string) (int, error) {
	file, err := os.Open(path) // #nosec G304 -- the operator's own choice
	if err != nil {
		return 0, err
	}
	defer file.Close()
	var info syscall.ByHandleFileInformation
	if err := syscall.GetFileInformationByHandle(syscall.Handle(file.Fd()), &info); err != nil {
		return 0, err
	}
	return int(info.NumberOfLinks), nil
}
