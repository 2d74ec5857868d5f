package cache

// writing runs a write to the key, unless the source is known not to answer. Who
// asks after it is not answered by what was known, or being asked, before: also
// when it failed, as it may have taken effect all the same.
func (r *revisions) writing(key string, write func() error) (err error) {
	if err := r.refuse(); err != nil {
		return err
	}
	acknowledged := false
	defer func() { r.wrote(key, acknowledged) }() // also when it panics
	err = write()
	acknowledged = err == nil
	return err
}

// refuse returns the error of a write for which the source has just been found
// not to answer.
func (r *revisions) refuse() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.last.cause == nil {
		return nil
	}
	_, err := r.last.wait(r.now(), r.underWay(), true)
	return err
}

func (r *revisions) wrote(key string, acknowledged bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	now := r.now()
	if key == AuthenticationsKey {
		r.authentications.wrote(now, acknowledged)
		return
	}
	r.lastWrite = now
	if t := r.snapshot(key); t != nil {
		t.wrote(now, acknowledged)
	}
}

// written returns when a write to the key through this instance ended last, or
// later. r.mu is held.
func (r *revisions) written(key string) int64 {
	if key == AuthenticationsKey {
		return r.authentications.written.Load()
	}
	if t := r.snapshot(key); t != nil {
		return t.written.Load()
	}
	return r.lastWrite
}
